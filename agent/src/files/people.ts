import { foreignText } from './foreign.ts';

/** A user account of this computer. */
export interface Person {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

const PASSWD_BYTES = 4 * 1024 ** 2;
/** Maximum home folders. */
const HOMES_MAXIMUM = 200;

const numberOf = (text: string | undefined) => (/^\d{1,10}$/u.test(text ?? '') ? Number(text) : undefined);

/** Parses passwd(5). Invalid lines are skipped. */
export function readPeople(passwd: string): Person[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid_text, gid_text, , home = ''] = line.split(':');
    const [uid, gid] = [numberOf(uid_text), numberOf(gid_text)];
    return name === '' || uid === undefined || gid === undefined ? [] : [{ name, uid, gid, home }];
  });
}

export async function peopleHere(passwd_file = '/etc/passwd'): Promise<Person[]> {
  return readPeople(await foreignText(passwd_file, PASSWD_BYTES));
}

/** Group id for users without an entry in passwd(5). */
const NOGROUP = 65_534;

/** The primary group id of a user. */
export async function groupOf(uid: number): Promise<number> {
  return (await peopleHere()).find((one) => one.uid === uid)?.gid ?? NOGROUP;
}

/** Home folders without duplicates: root's and those below /home. */
export function homesOf(people: readonly Person[]): string[] {
  const homes = people.map(({ home }) => home).filter((home) => /^\/(?:home\/|root$)/u.test(home));
  return [...new Set(homes)].slice(0, HOMES_MAXIMUM);
}
