//! The loops over cells: one per test and width, 64 cells to a word, without branches on cells of fixed length.

use std::hash::Hash;

use talavera_types::Native;

use super::Values;
use crate::members::MemberSet;
use crate::{Bitmap, Comparison};

/// Sets the bits of the cells of `data` that stand as `comparison` says to the number whose bytes `value` has.
pub(super) fn compare_numbers<T: Native>(data: &[u8], comparison: Comparison, value: &[u8], out: &mut Bitmap) {
    let Some(value) = T::read_le(value) else { return };
    match comparison {
        Comparison::Lt => fixed(data, out, |cell: T| cell < value),
        Comparison::Le => fixed(data, out, |cell: T| cell <= value),
        Comparison::Gt => fixed(data, out, |cell: T| cell > value),
        Comparison::Ge => fixed(data, out, |cell: T| cell >= value),
        Comparison::Eq => fixed(data, out, |cell: T| cell == value),
        Comparison::Ne => fixed(data, out, |cell: T| cell != value),
    }
}

/// Sets the bits of the cells that stand as `comparison` says to `value`, byte by byte, unsigned.
pub(super) fn compare_text(values: Values<'_>, comparison: Comparison, value: &[u8], out: &mut Bitmap) {
    match comparison {
        Comparison::Lt => text(values, out, |cell| cell < value),
        Comparison::Le => text(values, out, |cell| cell <= value),
        Comparison::Gt => text(values, out, |cell| cell > value),
        Comparison::Ge => text(values, out, |cell| cell >= value),
        Comparison::Eq => text(values, out, |cell| cell == value),
        Comparison::Ne => text(values, out, |cell| cell != value),
    }
}

/// Sets the bits of the cells that are, or if `negated` are not, one of `members`.
pub(super) fn member_numbers<T: Native + Hash + Ord>(data: &[u8], members: &MemberSet<T>, negated: bool, out: &mut Bitmap) {
    // Up to this many, comparing all cells with each member beats looking each cell up; it takes longer on wide cells.
    if members.ascending.len() <= 48 / T::SIZE {
        few_members(data, &members.ascending, negated.into(), out);
    } else {
        fixed(data, out, |cell: T| members.hashed.contains(&cell) != negated);
    }
}

/// As [`member_numbers`], for cells of one byte.
pub(super) fn member_bytes(data: &[u8], members: &MemberSet<u8>, negated: bool, out: &mut Bitmap) {
    let mut matches = [negated; 256];
    for member in &members.ascending {
        if let Some(cell) = matches.get_mut(usize::from(*member)) {
            *cell = !negated;
        }
    }
    fixed(data, out, |cell: u8| matches.get(usize::from(cell)).copied().unwrap_or(negated));
}

/// As [`member_numbers`], for text.
pub(super) fn member_text(values: Values<'_>, members: &MemberSet<Vec<u8>>, negated: bool, out: &mut Bitmap) {
    text(values, out, |cell| members.hashed.contains(cell) != negated);
}

/// Sets the bits of the cells of `data` that pass `test`. `data` holds at most as many cells as `out`.
pub(super) fn fixed<T: Native>(data: &[u8], out: &mut Bitmap, test: impl Fn(T) -> bool) {
    words::<T>(data, out, |cells, flags| {
        for (flag, cell) in flags.iter_mut().zip(cells.chunks_exact(T::SIZE)) {
            *flag = T::read_le(cell).is_some_and(&test).into();
        }
    });
}

/// Drops the cells whose validity is 0.
pub(super) fn keep_valid(validity: &[u8], out: &mut Bitmap) {
    for (word, cells) in out.words_mut().iter_mut().zip(validity.chunks(64)) {
        let mut flags = [0; 64];
        for (flag, valid) in flags.iter_mut().zip(cells) {
            *flag = u8::from(*valid != 0);
        }
        *word &= pack(&flags);
    }
}

fn few_members<T: Native>(data: &[u8], members: &[T], outside: u8, out: &mut Bitmap) {
    words::<T>(data, out, |cells, flags| {
        flags.fill(outside);
        for member in members {
            for (flag, cell) in flags.iter_mut().zip(cells.chunks_exact(T::SIZE)) {
                // Each cell equals at most one member, so the flag turns at most once.
                *flag ^= u8::from(T::read_le(cell).is_some_and(|cell| cell == *member));
            }
        }
    });
    out.clear_behind_the_end();
}

/// Fills `out` word by word: `fill` turns up to 64 cells into a 0 or 1 each.
fn words<T: Native>(data: &[u8], out: &mut Bitmap, fill: impl Fn(&[u8], &mut [u8; 64])) {
    let mut flags = [0; 64];
    let (full, tail) = data.split_at(data.len() - data.len() % (64 * T::SIZE));
    let mut words = out.words_mut().iter_mut();
    for (cells, word) in full.chunks_exact(64 * T::SIZE).zip(&mut words) {
        fill(cells, &mut flags);
        *word = pack(&flags);
    }
    if let (false, Some(word)) = (tail.is_empty(), words.next()) {
        flags.fill(0);
        fill(tail, &mut flags);
        *word = pack(&flags);
    }
}

/// Bit `i` of the result is byte `i`, which is 0 or 1.
fn pack(flags: &[u8; 64]) -> u64 {
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |word, (index, flags)| {
        // The multiplication moves the lowest bit of byte `i` to bit 56 + `i`; no two of its terms meet.
        let bits = u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word | bits << (8 * index)
    })
}

fn text(values: Values<'_>, out: &mut Bitmap, test: impl Fn(&[u8]) -> bool) {
    match values {
        Values::Fixed { data, cell_bytes } => {
            let words = out.words_mut().iter_mut();
            let cells = data.chunks_exact(cell_bytes.max(1));
            set_in_order(words, cells.map(test));
        }
        Values::Var { data, offsets } => {
            let ends = offsets.iter().skip(1);
            let cell = |(start, end): (&u64, &u64)| {
                let range = usize::try_from(*start).unwrap_or(usize::MAX)..usize::try_from(*end).unwrap_or(usize::MAX);
                test(data.get(range).unwrap_or_default())
            };
            set_in_order(out.words_mut().iter_mut(), offsets.iter().zip(ends).map(cell));
        }
    }
}

fn set_in_order<'w>(words: impl Iterator<Item = &'w mut u64>, mut matches: impl Iterator<Item = bool>) {
    for word in words {
        *word = matches.by_ref().take(64).enumerate().fold(0, |word, (cell, matches)| word | u64::from(matches) << cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::Members;

    #[test]
    fn packed_bits_lie_in_the_order_of_the_bytes() {
        for cell in 0..64 {
            let mut flags = [0; 64];
            flags[cell] = 1;
            assert_eq!(pack(&flags), 1 << cell);
        }
        assert_eq!(pack(&[1; 64]), u64::MAX);
    }

    #[test]
    fn cells_behind_the_last_never_match() {
        let data: Vec<u8> = (0..65_i32).flat_map(i32::to_le_bytes).collect();
        for count in [0, 2, 40] {
            let Members::Four(members) = Members::new(4, (0..count).map(|member: u32| member.to_le_bytes().to_vec()).collect())
            else {
                panic!("four bytes are a number")
            };
            let mut out = Bitmap::new(65, false);
            member_numbers(&data, &members, true, &mut out);
            assert_eq!(out.count_ones(), 65 - count as usize);
        }
    }
}
