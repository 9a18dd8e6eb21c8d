//! Tables for people.

use std::collections::VecDeque;
use std::io::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use talavera::Cells;

use crate::error::Error;
use crate::selection::FieldView;

/// Cells shown from the front of a large result, and from its end.
pub(crate) const EDGE: usize = 20;
/// Characters of a cell that are shown.
const WIDTH: usize = 48;

/// A table in the making: its first lines, its last lines, and how many there are in all.
pub(crate) struct Preview<'a> {
    fields: &'a [FieldView],
    numeric: Vec<bool>,
    front: Vec<Vec<String>>,
    back: VecDeque<Vec<String>>,
    count: u64,
    front_max: usize,
}

impl<'a> Preview<'a> {
    /// An empty table that shows `front_max` cells from the front.
    pub(crate) fn new(fields: &'a [FieldView], front_max: usize) -> Self {
        Self { fields, numeric: vec![false; fields.len()], front: Vec::new(), back: VecDeque::new(), count: 0, front_max }
    }

    /// Adds the first `count` cells of a batch, of which only those are formatted that may be shown.
    pub(crate) fn add(&mut self, cells: &Cells, count: usize) {
        let count = count.min(cells.len());
        let fields: Vec<_> = self.fields.iter().filter_map(|field| field.cells(cells)).collect();
        self.numeric = fields.iter().map(|field| field.is_numeric()).collect();
        let line = |cell: usize| {
            let shown = fields.iter().map(|field| {
                let mut text = String::new();
                if field.write_text(&mut text, cell) { shortened(&text) } else { "null".to_owned() }
            });
            shown.collect::<Vec<_>>()
        };
        let to_front = self.front_max.saturating_sub(self.front.len()).min(count);
        self.front.extend((0..to_front).map(line));
        for cell in to_front.max(count.saturating_sub(EDGE))..count {
            if self.back.len() == EDGE {
                self.back.pop_front();
            }
            self.back.push_back(line(cell));
        }
        self.count = self.count.saturating_add(count as u64);
    }

    /// How many cells were added.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Counts cells that lie between what was added and what will be.
    pub(crate) fn skip(&mut self, count: u64) {
        self.count = self.count.saturating_add(count);
    }

    /// Writes the table, and how many cells there are, or were shown of those there are.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn write(self, out: &mut dyn Write, limited: bool) -> Result<(), Error> {
        let shown = (self.front.len() + self.back.len()) as u64;
        let mut lines = self.front;
        if shown < self.count {
            lines.push(vec!["…".to_owned(); self.fields.len()]);
        }
        lines.extend(self.back);
        let names = self.fields.iter().map(|field| shortened(&field.name)).collect();
        write_table(out, names, lines, &self.numeric)?;
        let first = match self.count {
            // As far as can be counted.
            u64::MAX => "at least ",
            _ if limited => "first ",
            _ => "",
        };
        writeln!(out, "{first}{} {}", self.count, if self.count == 1 { "cell" } else { "cells" })?;
        Ok(())
    }
}

/// Writes lines under a header, numbers to the right.
///
/// # Errors
/// When the output cannot be written.
pub(crate) fn write_table(
    out: &mut dyn Write,
    header: Vec<String>,
    lines: Vec<Vec<String>>,
    numeric: &[bool],
) -> Result<(), Error> {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header).add_rows(lines);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numeric.get(index) == Some(&true) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A text as it fits on one line of a table: control characters escaped, long text cut.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == WIDTH {
            shown.push('…');
            break;
        }
        if character.is_control() { shown.extend(character.escape_default()) } else { shown.push(character) }
    }
    shown
}
