#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    clippy::cast_possible_truncation
)]
use std::sync::Arc;
use talavera_condition::QueryCondition;
use talavera_engine::*;
use talavera_schema::*;
use talavera_storage::*;
use talavera_types::*;

fn int(name: &str, dt: Datatype) -> Dimension {
    let r = if matches!(dt.class(), DatatypeClass::Unsigned) { Range::Unsigned(1, 20) } else { Range::Signed(1, 20) };
    match dt {
        Datatype::Float32 => Dimension::new(name, dt, Range::Float32(-1.0, 20.0), Some(TileExtent::Float32(5.0))),
        Datatype::Float64 => Dimension::new(name, dt, Range::Float64(-1.0, 20.0), Some(TileExtent::Float64(5.0))),
        Datatype::StringAscii => Dimension::string(name),
        _ => Dimension::new(name, dt, r, Some(TileExtent::Integer(4))),
    }
}
fn words(name: &str, dt: Datatype, cvn: CellValNum, vals: &[&[u8]], ordered: bool) -> Enumeration {
    Enumeration::from_values(name, enumeration_file_name().unwrap(), dt, cvn, ordered, vals.iter().copied()).unwrap()
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let st = LocalStorage::new("/").unwrap();
    let p = |s: &str| ObjectPath::new(s).unwrap();
    let opts = |k: bool| EngineOptions {
        key: k.then(|| EncryptionKey::new(*b"0123456789abcdeF0123456789abcdeF")),
        ..Default::default()
    };
    let open =
        |s: &str, k: bool| OpenArray::open(Arc::new(LocalStorage::new("/").unwrap()), p(s), TimeWindow::ALL, opts(k)).unwrap();
    match a[1].as_str() {
        "create" => create(&st, &a[2]),
        "delete" => {
            let array = open(&a[2], a[2].contains("encrypted"));
            let c = QueryCondition::from_text(&a[3]).unwrap();
            let o = DeleteOptions { timestamp: a.get(4).map(|t| t.parse().unwrap()), strict: false };
            match delete_cells(&array, &c, &o) {
                Ok(()) => println!("ok"),
                Err(e) => println!("refused: {e}"),
            }
        }
        "evolve" => {
            let r = p(&a[2]);
            let array = open(&a[2], a[2].contains("encrypted"));
            let mut ev = SchemaEvolution::new();
            let mut en = vec![];
            for step in &a[3..] {
                let (k, v) = step.split_once('=').unwrap();
                ev = match k {
                    "add" => ev.add_attribute(Attribute { nullable: true, ..Attribute::new(v, Datatype::Float64) }),
                    "addvar" => ev.add_attribute(Attribute::var(v, Datatype::StringUtf8)),
                    "drop" => ev.drop_attribute(v),
                    "enum" => {
                        let e = words(v, Datatype::StringUtf8, CellValNum::Var, &[b"x", b"yy"], true);
                        en.push(e.clone());
                        ev.add_enumeration(&e).add_attribute(Attribute {
                            enumeration: Some(v.into()),
                            ..Attribute::new(format!("{v}_attr"), Datatype::UInt8)
                        })
                    }
                    "extend" => {
                        let old = array.enumeration(v).unwrap();
                        let e = old.extended(enumeration_file_name().unwrap(), [&b"zzz"[..], b"wwww"]).unwrap();
                        en.push(e.clone());
                        ev.extend_enumeration(&old, &e).unwrap()
                    }
                    "dropenum" => ev.drop_enumeration(v),
                    "domain" => {
                        let (l, h) = v.split_once(':').unwrap();
                        ev.expand_current_domain(NdRange(
                            array
                                .schema()
                                .domain
                                .dimensions
                                .iter()
                                .map(|_| Range::Signed(l.parse().unwrap(), h.parse().unwrap()))
                                .collect(),
                        ))
                    }
                    _ => panic!(),
                };
            }
            println!(
                "{:?}",
                evolve_array(&st, &r, &ev, &en, &EvolveOptions { engine: array.options().clone(), timestamp: None })
            );
        }
        "upgrade" => println!("{:?}", upgrade_array(&st, &p(&a[2]), &EvolveOptions::default())),
        "schema" => println!("{:#?}", open(&a[2], a[2].contains("encrypted")).schema()),
        "read" => {
            let b = open(&a[2], a[2].contains("encrypted"));
            let r = b.query().read().unwrap();
            for at in &b.schema().attributes {
                println!("{} {:?}", at.name, r.field(&at.name).unwrap().data());
            }
        }
        "meta" => println!("{:#?}", open(&a[2], false).metadata().unwrap()),
        "group" => {
            let g = OpenGroup::open(Arc::new(LocalStorage::new("/").unwrap()), p(&a[2]), TimeWindow::ALL, &opts(false)).unwrap();
            for m in g.members() {
                println!("{m:?}");
            }
            println!("{:?}", g.metadata());
        }
        "groupedit" => {
            let o = opts(false);
            let mut g = GroupWriter::open(&st, &*Box::leak(Box::new(p(&a[2]))), None, &o).unwrap();
            for s in &a[3..] {
                let v: Vec<_> = s.split('=').collect();
                match v[0] {
                    "addrel" => g.add(v[1], true, v.get(2).copied()).unwrap(),
                    "addabs" => g.add(v[1], false, v.get(2).copied()).unwrap(),
                    "rm" => g.remove(v[1]).unwrap(),
                    "mv" => g.rename(v[1], v[2]).unwrap(),
                    _ => panic!(),
                }
            }
            g.commit().unwrap();
        }
        "copy" => copy_object(&st, &p(&a[2]), &p(&a[3])).unwrap(),
        "move" => move_object(&st, &p(&a[2]), &p(&a[3])).unwrap(),
        "rmarray" => remove_array(&st, &p(&a[2])).unwrap(),
        "rmgroup" => remove_group(&st, &p(&a[2]), true, &opts(false)).unwrap(),
        "walk" => {
            for o in walk_objects(&st, &p(&a[2]), WalkOrder::Pre).unwrap() {
                println!("{} {}", o.path, o.object_type);
            }
        }
        _ => panic!(),
    }
}
fn create(st: &LocalStorage, dir: &str) {
    let p = |s: &str| ObjectPath::new(dir).unwrap().join(s).unwrap();
    let mk = |name: &str, b: ArraySchemaBuilder, en: &[Enumeration], key: bool| {
        let s = match b.build() {
            Ok(s) => s,
            Err(e) => {
                println!("{name}: BUILD {e}");
                return;
            }
        };
        let o = CreateOptions { key: key.then(|| EncryptionKey::new(*b"0123456789abcdeF0123456789abcdeF")), timestamp: None };
        create_array(st, &p(name), &s, en, &o).unwrap_or_else(|e| panic!("{name}: {e}"));
    };
    let dense = || ArraySchema::builder(ArrayType::Dense);
    let sparse = || ArraySchema::builder(ArrayType::Sparse);
    // all datatypes in all shapes
    let mut b = sparse().dimension(int("d", Datatype::Int32)).allows_dups(true).capacity(7);
    for dt in Datatype::ALL {
        b = b
            .attribute(Attribute::var(format!("{dt}_var"), *dt))
            .attribute(Attribute { nullable: true, ..Attribute::var(format!("{dt}_var_null"), *dt) });
        if *dt != Datatype::Any {
            b = b
                .attribute(Attribute::new(format!("{dt}"), *dt))
                .attribute(Attribute { nullable: true, ..Attribute::new(format!("{dt}_null"), *dt) })
                .attribute(Attribute::with_cell_val_num(format!("{dt}_3"), *dt, CellValNum::Fixed(3.try_into().unwrap())));
        }
    }
    mk("all_attributes", b, &[], false);
    for dt in Datatype::ALL.iter().filter(|d| d.is_dimension_type()) {
        mk(&format!("dim_{dt}"), sparse().dimension(int("d", *dt)).attribute(Attribute::new("a", Datatype::Int32)), &[], false);
        mk(
            &format!("hilbert_{dt}"),
            sparse()
                .dimension(int("d", *dt))
                .dimension(int("e", Datatype::StringAscii))
                .cell_order(Layout::Hilbert)
                .attribute(Attribute::new("a", Datatype::Int32)),
            &[],
            false,
        );
        if !dt.is_float() && *dt != Datatype::StringAscii {
            mk(
                &format!("dense_{dt}"),
                dense()
                    .dimension(int("d", *dt))
                    .dimension(int("e", *dt))
                    .tile_order(Layout::ColMajor)
                    .cell_order(Layout::ColMajor)
                    .attribute(Attribute::new("a", Datatype::Int32)),
                &[],
                false,
            );
            for (order, on) in [(DataOrder::Increasing, "inc"), (DataOrder::Decreasing, "dec")] {
                mk(
                    &format!("label_{dt}_{on}"),
                    dense()
                        .dimension(int("d", *dt))
                        .attribute(Attribute::new("a", Datatype::Int32))
                        .label(DimensionLabel::internal(0, 0, "l0", order, Datatype::Float64))
                        .label(DimensionLabel::internal(1, 0, "l1", order, Datatype::StringAscii)),
                    &[],
                    false,
                );
            }
        }
        let cd = match dt {
            Datatype::Float32 => Range::Float32(1.0, 5.5),
            Datatype::Float64 => Range::Float64(1.0, 5.5),
            Datatype::StringAscii => Range::String(Box::from(*b"aa"), Box::from(*b"zzz")),
            d if matches!(d.class(), DatatypeClass::Unsigned) => Range::Unsigned(2, 9),
            _ => Range::Signed(2, 9),
        };
        mk(
            &format!("current_{dt}"),
            sparse().dimension(int("d", *dt)).attribute(Attribute::new("a", Datatype::Int32)).current_domain(NdRange(vec![cd])),
            &[],
            false,
        );
    }
    // filters
    let f = |v: Vec<FilterSpec>| FilterList::new(v);
    let specs: Vec<(&str, FilterSpec)> = vec![
        ("gzip", FilterSpec::Gzip { level: 5 }),
        ("zstd", FilterSpec::Zstd { level: 3 }),
        ("lz4", FilterSpec::Lz4 { level: 1 }),
        ("rle", FilterSpec::Rle { level: -1 }),
        ("bzip2", FilterSpec::Bzip2 { level: 2 }),
        ("dd", FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any }),
        ("bwr", FilterSpec::BitWidthReduction { max_window_bytes: 256 }),
        ("bitshuffle", FilterSpec::Bitshuffle),
        ("byteshuffle", FilterSpec::Byteshuffle),
        ("pd", FilterSpec::PositiveDelta { max_window_bytes: 1024 }),
        ("md5", FilterSpec::ChecksumMd5),
        ("sha", FilterSpec::ChecksumSha256),
        ("xor", FilterSpec::Xor),
        ("none", FilterSpec::None),
        ("delta", FilterSpec::Delta { level: -1, reinterpret: Datatype::Any }),
    ];
    for (n, s) in &specs {
        mk(
            &format!("filter_{n}"),
            dense()
                .dimension(Dimension { filters: f(vec![s.clone()]), ..int("d", Datatype::Int32) })
                .attribute(Attribute {
                    filters: f(vec![s.clone(), FilterSpec::Zstd { level: 2 }]),
                    ..Attribute::new("a", Datatype::Int32)
                })
                .offsets_filters(f(vec![s.clone()])),
            &[],
            false,
        );
    }
    mk(
        "filter_strings",
        sparse()
            .dimension(Dimension { filters: f(vec![FilterSpec::Rle { level: -1 }]), ..Dimension::string("d") })
            .attribute(Attribute {
                filters: f(vec![FilterSpec::Dictionary { level: -1 }, FilterSpec::Zstd { level: 1 }]),
                ..Attribute::var("a", Datatype::StringAscii)
            })
            .coords_filters(f(vec![]))
            .validity_filters(f(vec![FilterSpec::Bitshuffle])),
        &[],
        false,
    );
    mk(
        "filter_scale",
        dense().dimension(int("d", Datatype::Int32)).attribute(Attribute {
            filters: f(vec![FilterSpec::FloatScale { scale: 0.5, offset: 3.0, byte_width: 4 }]),
            ..Attribute::new("a", Datatype::Float64)
        }),
        &[],
        false,
    );
    mk(
        "filter_webp",
        dense()
            .dimension(Dimension::new("y", Datatype::UInt32, Range::Unsigned(1, 20), Some(TileExtent::Integer(20))))
            .dimension(Dimension::new("x", Datatype::UInt32, Range::Unsigned(1, 30), Some(TileExtent::Integer(30))))
            .attribute(Attribute {
                filters: f(vec![FilterSpec::Webp {
                    quality: 100.0,
                    format: talavera_filter::WebpFormat::Rgb,
                    lossless: true,
                    y_extent: 20,
                    x_extent: 30,
                }]),
                ..Attribute::new("a", Datatype::UInt8)
            }),
        &[],
        false,
    );
    // enumerations
    let e1 = words("words", Datatype::StringUtf8, CellValNum::Var, &[b"red", b"", "grün".as_bytes()], true);
    let e2 = words("ints", Datatype::Int32, CellValNum::ONE, &[&[1, 0, 0, 0], &[2, 0, 0, 0]], false);
    let e3 = words("empty", Datatype::StringAscii, CellValNum::Var, &[], false);
    let e4 = words("pairs", Datatype::StringAscii, CellValNum::Fixed(2.try_into().unwrap()), &[b"ab", b"cd"], false);
    let en = |n: &str, dt, e: &str| Attribute { enumeration: Some(e.into()), ..Attribute::new(n, dt) };
    for (n, b) in [("enumerations_dense", dense()), ("enumerations_sparse", sparse())] {
        mk(
            n,
            b.dimension(int("d", Datatype::Int32))
                .attribute(en("w", Datatype::Int8, "words"))
                .attribute(Attribute { nullable: true, ..en("i", Datatype::UInt64, "ints") })
                .attribute(en("e", Datatype::Int32, "empty"))
                .attribute(en("p", Datatype::UInt16, "pairs"))
                .enumeration(&e1)
                .enumeration(&e2)
                .enumeration(&e3)
                .enumeration(&e4),
            &[e1.clone(), e2.clone(), e3.clone(), e4.clone()],
            false,
        );
    }
    let e5 = words("words", Datatype::StringUtf8, CellValNum::Var, &[b"red", b"green"], true);
    mk(
        "encrypted",
        sparse()
            .dimension(int("d", Datatype::Int32))
            .attribute(Attribute::new("a", Datatype::Int32))
            .attribute(en("w", Datatype::Int8, "words"))
            .enumeration(&e5),
        &[e5],
        true,
    );
    mk(
        "deletes",
        sparse()
            .dimension(int("d", Datatype::Int32))
            .attribute(Attribute::new("a", Datatype::Int32))
            .attribute(Attribute::var("s", Datatype::StringUtf8))
            .attribute(Attribute::new("f", Datatype::Float64))
            .attribute(Attribute::new("n", Datatype::Int64)),
        &[],
        false,
    );
    // versions
    for v in 7..=22 {
        mk(
            &format!("v{v}"),
            dense()
                .version(FormatVersion::new(v).unwrap())
                .dimension(int("d", Datatype::Int32))
                .attribute(Attribute::new("a", Datatype::Int32))
                .attribute(Attribute { nullable: true, ..Attribute::var("s", Datatype::StringAscii) }),
            &[],
            false,
        );
        mk(
            &format!("sv{v}"),
            sparse()
                .version(FormatVersion::new(v).unwrap())
                .dimension(int("d", Datatype::Int32))
                .attribute(Attribute::new("a", Datatype::Int32)),
            &[],
            false,
        );
        let array =
            OpenArray::open(Arc::new(LocalStorage::new("/").unwrap()), p(&format!("v{v}")), TimeWindow::ALL, Default::default())
                .unwrap();
        let mut w = MetadataWriter::for_array(&array, None);
        w.put("k", MetadataValue::new(Datatype::Int32, vec![5, 0, 0, 0]).unwrap()).unwrap();
        w.commit().unwrap();
    }
    // metadata of all types
    mk("metadata", dense().dimension(int("d", Datatype::Int32)).attribute(Attribute::new("a", Datatype::Int32)), &[], false);
    create_group(st, &p("metagroup")).unwrap();
    let array =
        OpenArray::open(Arc::new(LocalStorage::new("/").unwrap()), p("metadata"), TimeWindow::ALL, Default::default()).unwrap();
    for g in [false, true] {
        let root = p("metagroup");
        let new = || {
            if g { MetadataWriter::for_group(st, &root, None, None).unwrap() } else { MetadataWriter::for_array(&array, None) }
        };
        let mut w = new();
        for dt in Datatype::ALL.iter().filter(|d| **d != Datatype::Any) {
            for n in [0u8, 1, 3] {
                w.put(
                    format!("{dt}_{n}"),
                    MetadataValue::new(
                        *dt,
                        (0..n)
                            .flat_map(|i| {
                                let mut v = vec![0; dt.size()];
                                v[0] = i + 65;
                                v
                            })
                            .collect(),
                    )
                    .unwrap(),
                )
                .unwrap();
            }
        }
        w.put("gone", MetadataValue::new(Datatype::Int8, vec![1]).unwrap()).unwrap();
        w.put("", MetadataValue::new(Datatype::Int8, vec![42]).unwrap()).unwrap();
        w.commit().unwrap();
        let mut w = new();
        w.delete("gone").unwrap().delete("never").unwrap();
        w.put("INT32_1", MetadataValue::new(Datatype::StringUtf8, b"again".to_vec()).unwrap()).unwrap();
        w.commit().unwrap();
    }
    // groups
    create_group(st, &p("g")).unwrap();
    create_group(st, &p("g/s")).unwrap();
    mk("g/a", dense().dimension(int("d", Datatype::Int32)).attribute(Attribute::new("a", Datatype::Int32)), &[], false);
    let o = EngineOptions::default();
    let root = p("g");
    let mut g = GroupWriter::open(st, &root, None, &o).unwrap();
    g.add("a", true, Some("first")).unwrap();
    g.add("s", true, None).unwrap();
    g.add(&format!("{dir}/metadata"), false, Some("meta")).unwrap();
    g.commit().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3));
    let mut g = GroupWriter::open(st, &root, None, &o).unwrap();
    g.rename("first", "second").unwrap();
    g.remove("s").unwrap();
    g.commit().unwrap();
    println!("created");
}
