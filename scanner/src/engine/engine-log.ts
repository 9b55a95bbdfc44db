/** Where engines say what becomes of them: facts for whoever runs them, then one sentence. A logger of pino is one. */
export interface EngineLog {
  debug(facts: object, sentence: string): void;
  info(facts: object, sentence: string): void;
  warn(facts: object, sentence: string): void;
  error(facts: object, sentence: string): void;
}
