#pragma once

/// The agent role inside a machine, as a child of init. Returns an exit status: 0 asks init to power off.
int agent_main(void);
