import type { EngineLog } from '#scanner/engine/engine-log.ts';

/** For tests in which nobody reads what engines say. */
export const SILENT: EngineLog = { debug() {}, info() {}, warn() {}, error() {} };
