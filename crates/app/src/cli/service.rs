//! `--service NAME`: the managed service running the servers, which determines what can be done to them.

use clap::Args;
use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_moves::steps::Service;

use crate::options::headings::CLUSTER;

/// Who runs the servers.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ServiceArgs {
    /// The managed service that runs the servers: elasticache, memorydb, memorystore, azure ...
    ///
    /// Also redis-cloud, aiven, alibaba, and self for servers of your own. Steps are those that it allows. [default: by the
    /// domain of the node names]
    #[arg(long, value_name = "NAME", help_heading = CLUSTER, hide_short_help = true)]
    pub service: Option<String>,
}

impl ServiceArgs {
    /// The service; `None` if the user names none.
    ///
    /// # Errors
    /// Unknown service name.
    pub fn service(&self) -> Result<Option<&'static Service>> {
        let named = |name: &String| {
            Service::named(name).ok_or_else(|| {
                let names: Vec<&str> = Service::names().collect();
                let reason = format!("is not known; name one of {}", names.join(", "));
                Error::option("service", Name::from(name.as_str()), reason)
            })
        };
        self.service.as_ref().map(named).transpose()
    }
}
