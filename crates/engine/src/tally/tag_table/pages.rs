//! A number for some cells of a partition, in pages that exist once they are written to.

/// Numbers of a page.
const PAGE: usize = 32;

/// The numbers, 0 at first.
#[derive(Default)]
pub(super) struct Pages<T>(Vec<Option<Box<[T; PAGE]>>>);

impl<T: Copy + Default> Pages<T> {
    /// The number of a cell, to be written.
    #[inline]
    pub(super) fn at(&mut self, cell: usize) -> &mut T {
        let page = cell / PAGE;
        if self.0.len() <= page {
            self.0.resize_with(page + 1, || None);
        }
        let page = self.0[page].get_or_insert_with(|| Box::new([T::default(); PAGE]));
        &mut page[cell % PAGE]
    }

    /// The number of a cell.
    #[inline]
    pub(super) fn get(&self, cell: usize) -> T {
        let page = self.0.get(cell / PAGE).and_then(Option::as_ref);
        page.map_or_else(T::default, |page| page[cell % PAGE])
    }
}
