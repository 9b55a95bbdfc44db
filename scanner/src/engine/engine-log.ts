/** Log interface of engines, compatible with pino: facts, then one sentence. */
export interface EngineLog {
  debug(facts: object, sentence: string): void;
  info(facts: object, sentence: string): void;
  warn(facts: object, sentence: string): void;
  error(facts: object, sentence: string): void;
}
