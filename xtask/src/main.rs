//! Chores of the talavera workspace.
fn main() {}
