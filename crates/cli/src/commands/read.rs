//! `read`: cells, in one of several forms.

mod edges;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use serde_json::Value;
use talavera::{Array, Order};

use super::part;
use crate::args::{FormatArg, OrderArg, ReadArgs};
use crate::error::Error;
use crate::format::arrow::write_stream;
use crate::format::csv::CsvWriter;
use crate::format::json::{Head, write_cells};
use crate::format::table::{EDGE, Preview};
use crate::progress::Meter;
use crate::selection::Selection;
use crate::value::range_json;

pub(crate) fn run(args: &ReadArgs, out: &mut dyn Write) -> Result<(), Error> {
    let part = args.part.as_deref().map(part::load).transpose()?;
    let array = match &part {
        Some(part) => args.target.open_part(part)?,
        None => args.target.open_array()?,
    };
    // The JSON of dense cells needs no coordinates: they follow from the order.
    let with_coords = !(args.format == FormatArg::Json && array.schema().is_dense());
    let mut selection = match part {
        Some(part) => Selection::of_part(part, &args.selection, &array)?,
        None => Selection::new(&args.selection, &array, with_coords)?,
    };
    if args.enum_values {
        selection = selection.with_enumerations(&array)?;
    }
    let reading = Reading { args, array: &array, selection: &selection };
    let Some(path) = &args.output else { return reading.write(out) };
    let file = File::create(path).map_err(|source| Error::File { path: path.clone(), source })?;
    let mut file = BufWriter::with_capacity(1 << 16, file);
    let written = reading.write(&mut file).and_then(|()| Ok(file.flush()?));
    written.map_err(|error| match error {
        Error::Output(source) => Error::File { path: path.clone(), source },
        error => error,
    })
}

/// What to read, and in which form to write it.
struct Reading<'a> {
    args: &'a ReadArgs,
    array: &'a Array,
    selection: &'a Selection,
}

impl Reading<'_> {
    fn write(&self, out: &mut dyn Write) -> Result<(), Error> {
        match self.args.format {
            FormatArg::Table => self.write_table(out),
            FormatArg::Csv => self.write_csv(out),
            FormatArg::Json => self.write_json(out),
            FormatArg::Arrow => self.write_arrow(out),
        }
    }

    fn limit(&self) -> usize {
        self.args.limit.unwrap_or(usize::MAX)
    }

    /// Progress may be shown where no cells go to the terminal at the same time.
    fn meter(&self, streams: bool) -> Meter {
        Meter::new(!streams || self.args.output.is_some() || !std::io::stdout().is_terminal())
    }

    /// Hands on the first cells up to the limit, batch by batch.
    fn each_batch(&self, streams: bool, mut take: impl FnMut(&talavera::Cells, usize) -> Result<(), Error>) -> Result<(), Error> {
        let meter = self.meter(streams);
        let mut left = self.limit();
        for batch in meter.follow(self.selection.read(self.array, Order::RowMajor)).batches()? {
            if left == 0 {
                break;
            }
            let batch = batch?;
            take(&batch, left)?;
            left -= left.min(batch.len());
        }
        meter.finish();
        Ok(())
    }

    fn write_csv(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut lines = CsvWriter::new(out, &self.selection.fields, &self.args.null)?;
        self.each_batch(true, |cells, limit| lines.write(cells, limit))?;
        lines.finish()
    }

    fn write_arrow(&self, out: &mut dyn Write) -> Result<(), Error> {
        let meter = self.meter(true);
        let read = self.selection.read(self.array, Order::RowMajor);
        write_stream(out, self.array, meter.follow(read), &self.selection.fields, self.limit())
    }

    fn write_table(&self, out: &mut dyn Write) -> Result<(), Error> {
        let fields = &self.selection.fields;
        if let Some(limit) = self.args.limit {
            let mut preview = Preview::new(fields, limit);
            self.each_batch(false, |cells, limit| {
                preview.add(cells, limit);
                Ok(())
            })?;
            let limited = preview.count() >= limit as u64;
            return preview.write(out, limited);
        }
        let mut preview = Preview::new(fields, EDGE);
        if let Some(edges) = edges::Edges::of(self.array, self.selection) {
            // Of a dense array only the cells at both ends need to be read.
            for (skipped, edge) in edges.parts() {
                preview.skip(skipped);
                let cells = edge.read(self.array, Order::RowMajor).cells()?;
                preview.add(&cells, cells.len());
            }
        } else {
            self.each_batch(false, |cells, limit| {
                preview.add(cells, limit);
                Ok(())
            })?;
        }
        preview.write(out, false)
    }

    fn write_json(&self, out: &mut dyn Write) -> Result<(), Error> {
        let meter = self.meter(false);
        let cells = meter.follow(self.selection.read_whole(self.array, Order::RowMajor)?).cells()?;
        meter.finish();
        let mut rows: Vec<usize> = (0..cells.len()).collect();
        if !self.array.schema().is_dense() && self.selection.order.is_none() {
            let fields = self.selection.fields.iter();
            let (dimensions, attributes): (Vec<_>, Vec<_>) = fields.partition(|field| field.is_dimension);
            let by: Vec<_> = dimensions.into_iter().chain(attributes).filter_map(|field| field.cells(&cells)).collect();
            // Stable, so that cells that are the same stay in the order of reading.
            rows.sort_by(|&a, &b| {
                let mut orders = by.iter().map(|field| field.compare(a, b));
                orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
            });
        }
        rows.truncate(self.limit());
        write_cells(out, &self.head(), &cells, &self.selection.fields, &rows)
    }

    fn head(&self) -> Head {
        let schema = self.array.schema();
        let mut entries = Vec::new();
        let timestamps = self.args.target.timestamps.as_ref();
        entries.push(("at", timestamps.map_or(Value::Null, |timestamps| (*timestamps.end()).into())));
        if let Some(start) = timestamps.map(|timestamps| *timestamps.start()).filter(|start| *start > 0) {
            entries.push(("start", start.into()));
        }
        if schema.is_dense() {
            let order = match self.selection.order {
                None | Some(OrderArg::Unordered) => OrderArg::RowMajor,
                Some(order) => order,
            };
            entries.push(("layout", order.name().into()));
        }
        entries.push(("subarray", self.subarray()));
        Head { entries, has_dims: !schema.is_dense() }
    }

    /// One range for each dimension; null where there is no restriction, a list of ranges where there are several.
    fn subarray(&self) -> Value {
        let schema = self.array.schema();
        if !schema.is_dense() && self.selection.ranges.iter().all(Vec::is_empty) {
            return Value::Null;
        }
        let ranges = self.selection.dense_ranges(schema).zip(&schema.domain.dimensions);
        let of_dimension = |(ranges, dimension): (Vec<&talavera::Range>, &talavera::Dimension)| {
            let json = |range: &&talavera::Range| range_json(dimension.datatype, range);
            match ranges.as_slice() {
                [] => Value::Null,
                [range] => json(range),
                several => several.iter().map(json).collect(),
            }
        };
        ranges.map(of_dimension).collect()
    }
}
