//! `cargo xtask peer`: fetches releases of the real library.
//!
//! Each release comes as a wheel of its Python package, pinned by version and hash; only the shared library and what it
//! links to are kept, in `.peer/<release>/`, which is ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::{Failure, hex, root};

/// A release of libtiledb and the wheel that holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Release {
    /// Its version.
    pub(crate) libtiledb: &'static str,
    /// The format version that it writes.
    pub(crate) format_version: u32,
    wheel: &'static str,
    python: &'static str,
    platform: &'static str,
    sha256: &'static str,
}

/// The release that interop tests run against, and that reads fixtures back.
pub(crate) const NEWEST: &str = "2.30.0";

pub(crate) fn run(all: bool, release: Option<&str>) -> Result<(), Failure> {
    let wanted: Vec<_> = match (all, release) {
        (true, _) => releases().collect(),
        (false, release) => vec![find(release.unwrap_or(NEWEST))?],
    };
    for release in wanted {
        println!("{}", fetch(&release)?.display());
    }
    Ok(())
}

/// The release with this version.
pub(crate) fn find(libtiledb: &str) -> Result<Release, Failure> {
    let known = || releases().map(|release| release.libtiledb).collect::<Vec<_>>().join(", ");
    let found = releases().find(|release| release.libtiledb == libtiledb);
    found.ok_or_else(|| format!("no release {libtiledb:?} in the table; there are {}", known()).into())
}

/// Fetches a release unless it is there; returns the path of its shared library.
pub(crate) fn fetch(release: &Release) -> Result<PathBuf, Failure> {
    let folder = root().join(".peer").join(release.libtiledb);
    if let Some(library) = library_in(&folder) {
        return Ok(library);
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("the table of wheels is for Linux on x86-64; elsewhere, point TALAVERA_PEER to a libtiledb".into());
    }
    eprintln!("fetching libtiledb {} (tiledb {} from PyPI)", release.libtiledb, release.wheel);
    fs::create_dir_all(root().join(".peer"))?;
    let work = tempfile::tempdir_in(root().join(".peer"))?;
    let wheel = download(release, work.path())?;
    let unpacked = work.path().join("unpacked");
    python(&["-m", "zipfile", "-e", &wheel.to_string_lossy(), &unpacked.to_string_lossy()])?;
    let kept = work.path().join("kept");
    fs::create_dir(&kept)?;
    keep_libraries(&unpacked, &kept)?;
    if library_in(&kept).is_none() {
        return Err(format!("{}: holds no libtiledb", wheel.display()).into());
    }
    fs::rename(&kept, &folder)?;
    library_in(&folder).ok_or_else(|| format!("{}: vanished", folder.display()).into())
}

fn download(release: &Release, into: &Path) -> Result<PathBuf, Failure> {
    python(&["-m", "pip", "--version"]).map_err(|failure| format!("pip for python3 is needed: {failure}"))?;
    let requirement = format!("tiledb=={}", release.wheel);
    let destination = into.to_string_lossy();
    let mut arguments = vec![
        "-m",
        "pip",
        "download",
        "--quiet",
        "--retries",
        "2",
        "--timeout",
        "60",
        "--no-deps",
        "--only-binary=:all:",
        "--implementation",
        "cp",
    ];
    arguments.extend(["--python-version", release.python, "--platform", release.platform, "-d", &destination, &requirement]);
    python(&arguments)?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let wheel = files(into)?.into_iter().find(is_wheel).ok_or("pip has downloaded no wheel")?;
    let found = hex(&Sha256::digest(fs::read(&wheel)?));
    if found != release.sha256 {
        return Err(format!("{}: SHA-256 is {found}, expected {}", wheel.display(), release.sha256).into());
    }
    Ok(wheel)
}

/// Runs Python; on failure, what it says.
fn python(arguments: &[&str]) -> Result<(), Failure> {
    let output = Command::new("python3").args(arguments).output().map_err(|error| format!("python3: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().into()) }
}

/// Moves shared libraries out of an unpacked wheel, without the extension modules of Python.
fn keep_libraries(from: &Path, to: &Path) -> Result<(), Failure> {
    for path in files(from)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            keep_libraries(&path, to)?;
        } else if name.contains(".so") && !name.contains("cpython") {
            fs::rename(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn library_in(folder: &Path) -> Option<PathBuf> {
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libtiledb"));
    files(folder).ok()?.into_iter().find(named)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// The table, oldest first: one release for each format version that a wheel writes, and the newest.
pub(crate) fn releases() -> impl Iterator<Item = Release> {
    RELEASES.iter().map(|&(libtiledb, format_version, wheel, python, platform, sha256)| Release {
        libtiledb,
        format_version,
        wheel,
        python,
        platform,
        sha256,
    })
}

/// Release, format version, wheel, its Python, its platform, its hash.
#[rustfmt::skip]
const RELEASES: &[(&str, u32, &str, &str, &str, &str)] = &[
    ("1.5.0", 2, "0.4.1", "37", "manylinux1_x86_64", "c6f0f652c12a40080cfadbbac3754ea15725039a7935d23b707ed1102726f826"),
    ("1.6.3", 3, "0.4.4", "37", "manylinux1_x86_64", "b24bc2d306fb030ef4b2483c3fcf7a9d9fdfe04f0c3aa45d0697ce49669ea0e0"),
    ("1.7.7", 4, "0.5.9", "37", "manylinux1_x86_64", "248597dd7e8cd163a6d9a98284cebb7e4351e73b274e334f8a38fb2787c8d044"),
    ("2.0.8", 5, "0.6.6", "37", "manylinux2010_x86_64", "601a48aa29ae897508296a7e2e64bde2896c3753447ee2d4639b84d741fd8181"),
    ("2.1.6", 6, "0.7.7", "37", "manylinux2010_x86_64", "a3d1c81fc4fd38d37b434fefae75f29be88f60b8dae6afed2b41db3b41a37fb5"),
    ("2.2.2", 7, "0.8.0", "37", "manylinux2010_x86_64", "931f2972af74c66359d9c94e2305112624503a47cdea8bf6c83577319661b8e4"),
    ("2.2.9", 8, "0.8.11", "37", "manylinux2010_x86_64", "2763a9aaab48b6c32333024f2edec038365770d9add3a1fa97d2975aeb7b576e"),
    ("2.3.3", 9, "0.9.5", "37", "manylinux2010_x86_64", "038e7641e6699609a543ba8157f4b240c0d930c7d4b1edec89ae3d55cfc0817e"),
    ("2.4.3", 10, "0.10.5", "37", "manylinux2010_x86_64", "bcef06c29977293da3f85382cff54f69eba5e8e8a1125992094d0e36c4d506ed"),
    ("2.7.2", 11, "0.13.3", "37", "manylinux2010_x86_64", "5209762f04284788646c245926b5481bc9e117582af15a72661d993fa9bc7012"),
    ("2.8.3", 12, "0.14.5", "37", "manylinux2014_x86_64", "d18bf313b7afa0037afc4e061c327883b3335766c8e0f5716c5c9be3c4e6fa9c"),
    ("2.9.5", 13, "0.15.6", "37", "manylinux2010_x86_64", "88d4a6596dc52a6aab79816535cb1d4279126328ed21764fb3b0d22d7991865d"),
    ("2.10.4", 14, "0.16.5", "37", "manylinux2014_x86_64", "1320ef3c796bf6ed0c0e856f575d9ed14bea5bf4a7dde9b938e9e43605288c8e"),
    ("2.11.3", 15, "0.17.6", "37", "manylinux2014_x86_64", "9678538a67af5934cb677a32c4fd5796c7634e0f9a7aacba0c9b5b9d3f3ef307"),
    ("2.12.3", 16, "0.18.3", "37", "manylinux2014_x86_64", "525dcb42859820d92a5fce1456e9d9dabfa0cb2984d063c645ad58e98b7fa827"),
    ("2.14.0", 17, "0.20.0", "37", "manylinux2014_x86_64", "6ff81cfdcc8a5d15147f17ca156d09978cd034e4c2a9e34f04e919483d5ddc56"),
    ("2.15.4", 18, "0.21.6", "37", "manylinux2014_x86_64", "4e684a4ba52181fc7bd561d4c340b3fcfd3da717d7206e6bdb1be0925df8aad0"),
    ("2.16.3", 19, "0.22.3", "37", "manylinux2014_x86_64", "1f8dcbd043b946a03cdd0d9276da52b16350f043f03702c1b5ec38fea0a41e38"),
    ("2.17.5", 20, "0.23.5", "311", "manylinux2014_x86_64", "bb8acab6369230a6b3f034267eb8aac559bc72db255fe73e6a4a32aa248507b4"),
    ("2.19.2", 21, "0.25.1", "311", "manylinux2014_x86_64", "eed0306ccb4e47d1c3cf5277a0f0e062a5f2bdba2958c8bbebd3a808e16c6e1b"),
    ("2.25.0", 22, "0.31.1", "311", "manylinux2014_x86_64", "4dbf5429d6c2dba29de3844c8096c92f14e961c39305b2a854f13b2ed926e57c"),
    ("2.30.0", 22, "0.36.1", "311", "manylinux_2_28_x86_64", "28031477d62b74ded0123559f02f784913bb440bc4d739c0d2de8334a372015b"),
];
