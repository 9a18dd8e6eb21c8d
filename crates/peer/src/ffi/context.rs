//! A loaded library and its contexts.

use std::path::{Path, PathBuf};
use std::ptr;
use std::rc::Rc;
use std::sync::Mutex;

use super::{Free, Handle, Raw, Text, c_string, text};
use crate::PeerError;

/// One release of libtiledb, loaded for the life of the process.
#[derive(Debug, Clone, Copy)]
pub struct Library(&'static Loaded);

#[derive(Debug)]
struct Loaded {
    path: PathBuf,
    symbols: libloading::Library,
    version: (i32, i32, i32),
}

/// Releases share C++ symbols that the loader makes unique, so only one can run in a process.
static LOADED: Mutex<Option<Library>> = Mutex::new(None);

impl Library {
    /// Loads the shared library at `path`, or returns it when it is loaded already.
    ///
    /// # Errors
    /// [`PeerError::Load`] when it cannot be loaded, [`PeerError::OtherLibrary`] when the process runs another one.
    pub fn open(path: &Path) -> Result<Self, PeerError> {
        let failed = |reason: String| PeerError::Load { path: path.to_owned(), reason };
        let path = path.canonicalize().map_err(|error| failed(error.to_string()))?;
        let mut loaded = LOADED.lock().map_err(|_| failed("loading panicked before".into()))?;
        if let Some(library) = *loaded {
            let same = library.0.path == path;
            return if same { Ok(library) } else { Err(PeerError::OtherLibrary { loaded: library.0.path.clone() }) };
        }
        // SAFETY: the library's initialisers only set up its own globals; the caller chose the file.
        let symbols = unsafe { libloading::Library::new(&path) }.map_err(|error| failed(error.to_string()))?;
        let mut version = (0, 0, 0);
        {
            // SAFETY: the C header declares the function with this type since the first release.
            let function = unsafe { symbols.get::<unsafe extern "C" fn(*mut i32, *mut i32, *mut i32)>(b"tiledb_version\0") };
            let function = function.map_err(|error| failed(error.to_string()))?;
            // SAFETY: three addresses of integers that outlive the call.
            unsafe { function(&raw mut version.0, &raw mut version.1, &raw mut version.2) };
        }
        let library = Self(Box::leak(Box::new(Loaded { path, symbols, version })));
        *loaded = Some(library);
        Ok(library)
    }

    /// Where a release's shared library lies: what the environment variable `TALAVERA_PEER` names, or what
    /// `cargo xtask peer` has fetched of `release`, such as `2.30.0`; `None` when there is neither.
    #[must_use]
    pub fn locate(release: &str) -> Option<PathBuf> {
        if let Some(path) = std::env::var_os("TALAVERA_PEER") {
            return Some(path.into());
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.peer").join(release);
        let mut files: Vec<_> = folder.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        files.into_iter().find(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libtiledb")))
    }

    /// The release: major, minor, patch.
    #[must_use]
    pub fn version(&self) -> (i32, i32, i32) {
        self.0.version
    }

    /// Whether this release has a function of the C API.
    #[must_use]
    pub fn has(&self, function: &str) -> bool {
        // SAFETY: the symbol is looked up, not used.
        unsafe { self.0.symbols.get::<Free>(function.as_bytes()) }.is_ok()
    }

    /// # Safety
    /// `F` is the type of the function in the C header.
    pub(super) unsafe fn function<F: Copy>(self, name: &'static str) -> Result<F, PeerError> {
        // SAFETY: the caller vouches for the type; the library is never unloaded.
        match unsafe { self.0.symbols.get::<F>(name.as_bytes()) } {
            Ok(function) => Ok(*function),
            Err(_) => Err(PeerError::Missing { function: name, version: self.0.version }),
        }
    }
}

/// A configuration of a library under which arrays and groups are created, opened and maintained.
///
/// It runs the library with one thread unless its configuration says otherwise, so that what is written depends on
/// timing as little as it can. Contexts and what comes from them stay on their thread.
pub struct Context(Shared);

/// What a context and its handles own together.
pub(super) type Shared = Rc<Inner>;

pub(super) struct Inner {
    library: Library,
    context: Raw,
    free: Free,
    key: Option<Vec<u8>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: this value owns the context, and every handle made from it has been dropped, as each shares it.
        unsafe { (self.free)(&raw mut self.context) }
    }
}

impl Context {
    /// A context with these keys and values of the library's configuration.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library does not take the configuration.
    pub fn new(library: &Library, config: &[(&str, &str)]) -> Result<Self, PeerError> {
        Self::build(*library, config, None)
    }

    /// As [`Context::new`], for arrays encrypted by AES-256-GCM under this key of 32 bytes.
    ///
    /// # Errors
    /// [`PeerError::Refused`] when the library does not take the configuration.
    pub fn encrypted(library: &Library, config: &[(&str, &str)], key: &[u8]) -> Result<Self, PeerError> {
        Self::build(*library, config, Some(key.to_vec()))
    }

    fn build(library: Library, config: &[(&str, &str)], key: Option<Vec<u8>>) -> Result<Self, PeerError> {
        type Allocate = unsafe extern "C" fn(Raw, *mut Raw) -> i32;
        let one_thread = [("sm.compute_concurrency_level", "1"), ("sm.io_concurrency_level", "1")];
        let config = Config::new(library, key_of(library, key.as_deref()), one_thread.iter().chain(config))?;
        let mut context = ptr::null_mut();
        // SAFETY: the types are those of the C header; the configuration is alive and the address outlives the call.
        let (code, free) = unsafe {
            let allocate = library.function::<Allocate>("tiledb_ctx_alloc")?;
            (allocate(config.raw, &raw mut context), library.function::<Free>("tiledb_ctx_free")?)
        };
        if code != 0 {
            let message = "no context with this configuration".into();
            return Err(PeerError::Refused { function: "tiledb_ctx_alloc", message });
        }
        Ok(Self(Rc::new(Inner { library, context, free, key })))
    }

    /// The library of this context.
    #[must_use]
    pub fn library(&self) -> Library {
        self.0.library
    }

    /// A configuration for one call, with the key where the context has one.
    pub(super) fn config(&self, entries: &[(&str, &str)]) -> Result<Config, PeerError> {
        Config::new(self.library(), key_of(self.library(), self.0.key.as_deref()), entries.iter())
    }

    /// The key, for releases that take it with each call; later ones take it in the configuration.
    pub(super) fn key_for_calls(&self) -> Option<&[u8]> {
        if takes_keys_in_calls(self.library()) { self.0.key.as_deref() } else { None }
    }

    pub(super) fn has_key(&self) -> bool {
        self.0.key.is_some()
    }

    pub(super) fn raw(&self) -> Raw {
        self.0.context
    }

    pub(super) fn share(&self) -> Shared {
        Rc::clone(&self.0)
    }

    pub(super) fn of(shared: &Shared) -> Self {
        Self(Rc::clone(shared))
    }

    /// Turns a code of the C API into a result with the library's message.
    pub(super) fn check(&self, function: &'static str, code: i32) -> Result<(), PeerError> {
        if code == 0 { Ok(()) } else { Err(PeerError::Refused { function, message: self.last_error() }) }
    }

    fn last_error(&self) -> String {
        type LastError = unsafe extern "C" fn(Raw, *mut Raw) -> i32;
        type Message = unsafe extern "C" fn(Raw, *mut Text) -> i32;
        let (mut error, mut message) = (ptr::null_mut(), ptr::null());
        // SAFETY: the types are those of the C header. The message lives in the error, which is freed after the copy.
        unsafe {
            let Ok(last_error) = self.library().function::<LastError>("tiledb_ctx_get_last_error") else {
                return String::new();
            };
            if last_error(self.raw(), &raw mut error) != 0 || error.is_null() {
                return "no message".into();
            }
            if let Ok(get) = self.library().function::<Message>("tiledb_error_message") {
                get(error, &raw mut message);
            }
            let copied = text(message);
            if let Ok(free) = self.library().function::<Free>("tiledb_error_free") {
                free(&raw mut error);
            }
            copied
        }
    }

    /// The text of a string object.
    pub(super) fn string(&self, string: &Handle) -> Result<String, PeerError> {
        type View = unsafe extern "C" fn(Raw, *mut Text, *mut usize) -> i32;
        if string.raw().is_null() {
            return Ok(String::new());
        }
        let (mut data, mut length) = (ptr::null(), 0);
        // SAFETY: the types are those of the C header; the text lives in the string object, which outlives the copy.
        let bytes = unsafe {
            let code = self.library().function::<View>("tiledb_string_view")?(string.raw(), &raw mut data, &raw mut length);
            self.check("tiledb_string_view", code)?;
            super::copy(data.cast(), length as u64)?
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("library", &self.0.library).finish_non_exhaustive()
    }
}

fn takes_keys_in_calls(library: Library) -> bool {
    library.has("tiledb_array_open_with_key")
}

fn key_of(library: Library, key: Option<&[u8]>) -> Option<&[u8]> {
    if takes_keys_in_calls(library) { None } else { key }
}

/// An owned configuration object, which belongs to no context.
pub(super) struct Config {
    raw: Raw,
    free: Free,
}

impl Config {
    fn new<'a>(
        library: Library,
        key: Option<&[u8]>,
        entries: impl Iterator<Item = &'a (&'a str, &'a str)>,
    ) -> Result<Self, PeerError> {
        type Allocate = unsafe extern "C" fn(*mut Raw, *mut Raw) -> i32;
        let (mut raw, mut error) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the types are those of the C header, and the addresses outlive the call.
        let (code, free) = unsafe {
            let allocate = library.function::<Allocate>("tiledb_config_alloc")?;
            (allocate(&raw mut raw, &raw mut error), library.function::<Free>("tiledb_config_free")?)
        };
        if code != 0 {
            return Err(PeerError::Refused { function: "tiledb_config_alloc", message: "out of memory".into() });
        }
        let config = Self { raw, free };
        for (name, value) in entries {
            config.set(library, name, value)?;
        }
        if let Some(key) = key {
            config.set(library, "sm.encryption_type", "AES_256_GCM")?;
            config.set(library, "sm.encryption_key", &String::from_utf8_lossy(key))?;
        }
        Ok(config)
    }

    fn set(&self, library: Library, name: &str, value: &str) -> Result<(), PeerError> {
        type Set = unsafe extern "C" fn(Raw, Text, Text, *mut Raw) -> i32;
        let (c_name, c_value, mut error) = (c_string(name)?, c_string(value)?, ptr::null_mut());
        // SAFETY: the type is that of the C header; object, texts and address outlive the call. Should it fail, the
        // error object stays behind, as the process has no further use for it.
        let code = unsafe {
            let set = library.function::<Set>("tiledb_config_set")?;
            set(self.raw, c_name.as_ptr(), c_value.as_ptr(), &raw mut error)
        };
        let message = format!("{name} = {value}");
        if code == 0 { Ok(()) } else { Err(PeerError::Refused { function: "tiledb_config_set", message }) }
    }

    pub(super) fn raw(&self) -> Raw {
        self.raw
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: this value owns the object; calls that took it have copied it.
        unsafe { (self.free)(&raw mut self.raw) }
    }
}
