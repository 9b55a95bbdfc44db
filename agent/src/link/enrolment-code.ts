import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { enrolmentCodeSchema } from '@palisade/contract/agent';
import { Refused } from './identity.ts';

const USAGE = 'palisade-agent enrol [--code-file FILE] [SERVER]';
const NO_ARGUMENT = `Other users of this computer can read a code that is an argument. Leave it out and type it when asked, or run: ${USAGE}`;
const LINE_BYTES = 256;

/** Parses the arguments of `palisade-agent enrol`. @throws Refused for a code among them, because any user of the computer can read arguments */
export function readEnrolArguments(args: readonly string[]): { address: string | undefined; code_file: string | undefined } {
  const rest = [...args];
  const at = rest.findIndex((arg) => arg === '--code-file' || arg.startsWith('--code-file='));
  const [option] = at < 0 ? [] : rest.splice(at, 1);
  const code_file = option === '--code-file' ? rest.splice(at, 1)[0] : option?.slice('--code-file='.length);
  if (option !== undefined && !code_file) throw new Refused(`Name the file: ${USAGE}`);
  const [address, ...more] = rest;
  if (more.length > 0 || (address !== undefined && enrolmentCodeSchema.safeParse(address).success))
    throw new Refused(NO_ARGUMENT);
  return { address, code_file };
}

/** Prompts on the terminal, because in `curl ... | sh` standard input is the script. */
function askAtTerminal(): string {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch {
    throw new Refused(`There is no terminal to type the code at. Write it to a file and run: ${USAGE}`);
  }
  try {
    writeSync(terminal, 'Enrollment code: ');
    const line = Buffer.alloc(LINE_BYTES);
    return line.toString('utf8', 0, readSync(terminal, line, 0, LINE_BYTES, null));
  } finally {
    closeSync(terminal);
  }
}

/** The enrolment code, typed or from a file that other users cannot read. @throws Refused */
export async function readCode(code_file: string | undefined): Promise<string> {
  let text: string;
  if (code_file === undefined) text = askAtTerminal();
  else {
    try {
      const stats = await stat(code_file);
      if (stats.isFile() && (stats.mode & 0o077) !== 0)
        throw new Refused(`Other users can read ${code_file}. Run: chmod 600 ${code_file}`);
      text = await readFile(code_file, 'utf8');
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw new Refused(`The file ${code_file} could not be read.`);
    }
  }
  const read = enrolmentCodeSchema.safeParse(text.trim());
  if (!read.success) throw new Refused(read.error.issues[0]?.message ?? 'Give the enrolment code.');
  return read.data;
}
