//! Lists selected rows of a batch with a kernel's vector instructions: the flags of 64 rows become a mask, and its bits
//! become numbers. Branch-free, as the selection is unpredictable.

use hashslot::Kernel;
use hashslot::simd::{Bytes64, LANES, Pass};

/// Selects rows. Inlined into a pass, it is compiled with the kernel's instructions, which closures are not.
pub trait Flags {
    /// Sets the byte of each selected row to 1, starting with row `from`; bytes are initially 0.
    fn flag(&self, from: usize, flags: &mut [u8]);
}

/// Fills `listed` with the selected numbers below `rows`.
#[inline]
pub fn list_rows(kernel: &Kernel, rows: usize, wanted: impl Flags, listed: &mut Vec<u32>) {
    listed.resize(rows + LANES, 0);
    let count = kernel.run(ListRows {
        rows,
        wanted,
        listed,
    });
    listed.truncate(count);
}

struct ListRows<'a, F> {
    rows: usize,
    wanted: F,
    listed: &'a mut [u32],
}

impl<F: Flags> Pass for ListRows<'_, F> {
    /// The number of selected rows.
    type Output = usize;

    fn scalar(self) -> usize {
        let mut count = 0;
        for from in (0..self.rows).step_by(LANES) {
            let mut buffer = [0; LANES];
            let flags = &mut buffer[..LANES.min(self.rows - from)];
            self.wanted.flag(from, flags);
            for (i, flag) in flags.iter().enumerate() {
                self.listed[count] = (from + i) as u32;
                count += usize::from(*flag);
            }
        }
        count
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) -> usize {
        let mut count = 0;
        for from in (0..self.rows).step_by(LANES) {
            let mut flags = [0; LANES];
            // A constant number of rows lets the compiler vectorize flagging.
            if self.rows - from >= LANES {
                self.wanted.flag(from, &mut flags);
            } else {
                self.wanted.flag(from, &mut flags[..self.rows - from]);
            }
            let room = &mut self.listed[count..count + LANES];
            // SAFETY: 64 bytes can be read and 64 numbers written, and the CPU has the instructions.
            count += unsafe {
                let flags = B::load(flags.as_ptr());
                flags.positions(flags.equal(1), from as u32, room.as_mut_ptr())
            };
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Equal<'a>(&'a [u32], u32);

    impl Flags for Equal<'_> {
        fn flag(&self, from: usize, flags: &mut [u8]) {
            for (flag, row) in flags.iter_mut().zip(&self.0[from..]) {
                *flag = u8::from(*row == self.1);
            }
        }
    }

    #[test]
    fn every_kernel_lists_the_rows_that_are_flagged() {
        let columns = [0u32, 0, 7, 9, 0, 3].repeat(50);
        for kernel in hashslot::available() {
            for rows in (0..=columns.len()).step_by(7).chain([63, 64, 65, 128]) {
                for wanted in [0, 7, 8] {
                    let column = &columns[..rows];
                    let mut listed = vec![1; 3];
                    list_rows(kernel, rows, Equal(column, wanted), &mut listed);
                    let truth = (0u32..).zip(column).filter(|(_, row)| **row == wanted);
                    let truth: Vec<u32> = truth.map(|(i, _)| i).collect();
                    assert_eq!(listed, truth, "{}: {rows} rows", kernel.name);
                }
            }
        }
    }
}
