//! A sparse array of numbers by cell, with pages allocated on first write.

/// Numbers per page.
const PAGE: usize = 32;

/// The numbers, initially 0.
#[derive(Default)]
pub(super) struct Pages<T>(Vec<Option<Box<[T; PAGE]>>>);

impl<T: Copy + Default> Pages<T> {
    /// The number of a cell, for writing.
    #[inline]
    pub(super) fn at(&mut self, cell: usize) -> &mut T {
        let page = cell / PAGE;
        if self.0.len() <= page {
            self.0.resize_with(page + 1, || None);
        }
        let page = self.0[page].get_or_insert_with(|| Box::new([T::default(); PAGE]));
        &mut page[cell % PAGE]
    }

    #[inline]
    pub(super) fn get(&self, cell: usize) -> T {
        let page = self.0.get(cell / PAGE).and_then(Option::as_ref);
        page.map_or_else(T::default, |page| page[cell % PAGE])
    }
}
