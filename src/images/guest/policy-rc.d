#!/bin/sh
# No service is started by installing a package: this machine has no service manager.
exit 101
