import type { EngineLog } from '#scanner/engine/engine-log.ts';

/** For tests that do not read the engines' log. */
export const SILENT: EngineLog = { debug() {}, info() {}, warn() {}, error() {} };
