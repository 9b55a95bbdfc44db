import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import { currentRequest } from './request-context.ts';
import type { Settings } from './settings.ts';

// Only the facts named here may be logged: of a request its method, path and address, of an answer its status, of an error its kind and where it arose. Bodies, headers and
// query strings are never logged (OWASP ASVS 5, 16.2.5).

const TEXT_LENGTH_MAXIMUM = 500;
const FRAMES_MAXIMUM = 30;
const CAUSES_MAXIMUM = 5;

/** Further loggable fields of an error: names defined by programs, never values of people. */
const NAMED = ['code', 'errno', 'syscall', 'signal', 'constraint', 'table', 'column', 'routine', 'responseCode'] as const;
const NAME = /^[\w.:$-]{1,100}$/;

/** Errors whose message describes the program. Messages of others quote their input: JSON its text, Node its arguments, PostgreSQL the row. */
const SPEAKS_OF_ITSELF = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'AbortError', 'TimeoutError']);

/** Removes quoted text from a sentence: programs quote their input. */
function withoutQuotations(text: string): string {
  return withoutQueries(text).replaceAll(/(["'`])(?:(?!\1).)*\1/g, '$1...$1');
}

const withoutKey = (text: string) => text.replaceAll(/(?<!\/api)\/(dns|ask)\/[^/?\s"'<>]+/gu, '/$1/...');

/** Removes query strings from the addresses in a text: they may contain tokens. */
function withoutQueries(text: string): string {
  return withoutKey(text.replaceAll(/(\/[^\s?"'<>]*)\?[^\s"'<>]*/g, '$1?...')).slice(0, TEXT_LENGTH_MAXIMUM);
}

/** The path with secrets removed: addresses contain the keys of web-protection devices and of household pages. */
export function pathOf(address: unknown): string {
  return withoutKey(String(address).split('?', 1).join('')).slice(0, TEXT_LENGTH_MAXIMUM);
}

function mayQuote(error: Error): boolean {
  // The operating system names its call and a path of this program, SQLite a table and a column.
  if ('syscall' in error || error.name === 'SqliteError') return false;
  return !SPEAKS_OF_ITSELF.has(error.name) || 'code' in error;
}

/** The frames of a stack without the message that V8 puts before them. */
function framesOf({ stack = '', message }: Error): string[] {
  const from = stack.indexOf(message);
  return stack
    .slice(from < 0 ? 0 : from + message.length)
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .slice(0, FRAMES_MAXIMUM)
    .map((line) => line.trim());
}

function errorFacts(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const named = NAMED.flatMap((name) => {
    const value: unknown = Reflect.get(error, name);
    const isName = typeof value === 'number' || (typeof value === 'string' && NAME.test(value));
    return isName ? [[name, value] as const] : [];
  });
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return {
    type: error.name,
    ...(mayQuote(error) ? {} : { message: withoutQuotations(error.message) }),
    ...Object.fromEntries(named),
    stack: framesOf(error),
    ...(cause === undefined || depth >= CAUSES_MAXIMUM ? {} : { cause: errorFacts(cause, depth + 1) }),
  };
}

const serializers = {
  req: (request: { method?: unknown; url?: unknown; ip?: unknown }) => ({
    method: request.method,
    path: pathOf(request.url),
    address: request.ip,
  }),
  res: (reply: { statusCode?: unknown }) => ({ status: reply.statusCode }),
  err: (error: unknown) => errorFacts(error),
  // The socket plugin's name for an address including its query.
  path: pathOf,
};

function errorOf(facts: unknown): unknown {
  return typeof facts === 'object' && facts !== null && 'err' in facts ? facts.err : undefined;
}

/** Libraries log an error as the object or its message as the sentence; both are logged through the `err` serializer. */
function logMethod(this: Logger, [first, sentence]: unknown[], method: LogFn): void {
  if (typeof first === 'string') {
    method.call(this, withoutQueries(first));
    return;
  }
  const facts = first instanceof Error ? { err: first } : first;
  const error = errorOf(facts);
  const repeats = error instanceof Error && (sentence === undefined || sentence === error.message);
  method.call(this, facts, repeats ? 'an error' : withoutQueries(String(sentence ?? '')));
}

/** Adds the id of the current request to the lines of loggers that do not know it. */
function mixin(_facts: object, _level: number, logger: Logger): object {
  const request = currentRequest();
  return request === undefined || 'reqId' in logger.bindings() ? {} : request;
}

/** The server's log: JSON lines with allowed facts only. `destination` is standard error by default. */
export function createLog(level: Settings['log_level'], destination: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, serializers, mixin, hooks: { logMethod } }, destination);
}
