// omega's own connection, as a run uses it: journal, guardian and sweep included.

import { openChildren } from "../../../src/processes/children.ts";
import { connect } from "../../../src/servers/connection.ts";
import { drive } from "./drive.ts";
