//! No server is an input of a program that is built without the feature `live`.

use std::path::PathBuf;

use clap::Args;

use slotscope_engine::error::Result;
use slotscope_engine::name::Name;
use slotscope_engine::secret::Credentials;
use slotscope_engine::slot::policy::Policy;
use slotscope_findings::summary::{InputFacts, Summary};

use crate::cli::progress::When;
use crate::cli::reading::ReadingArgs;
use crate::pipeline::reading::Reading;

#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ServerArgs {}

#[derive(Args, Debug, Clone, Default)]
pub(crate) struct LiveArgs {}

pub(crate) enum Servers {}

pub(crate) enum Collected {}

impl ServerArgs {
    pub(crate) fn for_now(_: LiveArgs) -> Self {
        ServerArgs {}
    }

    pub fn counting(&self) -> Self {
        self.clone()
    }

    pub fn credentials(&self, _: &[PathBuf]) -> Result<Credentials> {
        Ok(Credentials::default())
    }

    pub fn servers(&self, _: &[PathBuf]) -> Result<Option<Servers>> {
        Ok(None)
    }
}

impl Servers {
    pub(crate) fn name(&self) -> String {
        match *self {}
    }

    pub(crate) fn collect(self, _: When) -> Result<Collected> {
        match self {}
    }
}

impl Collected {
    pub(crate) fn reading(&self, _: &ReadingArgs, _: Policy) -> Result<Reading> {
        match *self {}
    }

    pub(crate) fn word(&self) -> String {
        match *self {}
    }

    pub(crate) fn rename<'n>(&self, _: &'n mut InputFacts, _: &'n mut Name) {
        match *self {}
    }

    pub(crate) fn shorten<'n>(&self, _: impl Iterator<Item = &'n mut Name>) {
        match *self {}
    }

    pub(crate) fn note(&self, _: &mut Summary, _: bool) {
        match *self {}
    }
}
