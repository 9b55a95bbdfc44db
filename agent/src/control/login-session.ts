import { join } from 'node:path';
import { foreignText } from '#files/foreign.ts';

/** A user's graphical login session on seat0, from logind's state files. */
export interface LoginSession {
  id: string;
  uid: number;
  type: 'x11' | 'wayland';
  /** The X11 display that the display manager named, such as `:0`. */
  display: string | undefined;
}

/** The folder of logind's state files (sd-login(3)). */
export const LOGIND_FOLDER = '/run/systemd';

const RECORD_BYTES = 16 * 1024;
const KEY = /^[A-Z][A-Z0-9_]{0,63}$/u;
const SESSION_ID = /^[A-Za-z0-9]{1,64}$/u;
const UID = /^(?:0|[1-9]\d{0,9})$/u;
/** Valid user ids are below this: (uid_t)-1 means "no user". */
const UIDS_END = 0xffff_ffff;
export const LOCAL_DISPLAY = /^:(\d{1,5})(?:\.\d{1,2})?$/u;

/** Parses a state file of logind: lines of `KEY=value`. Undefined if a line has another form or a key occurs twice. */
export function parseRecord(text: string): ReadonlyMap<string, string> | undefined {
  if (text.length > RECORD_BYTES) return undefined;
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const at = line.indexOf('=');
    const key = line.slice(0, Math.max(0, at));
    if (!KEY.test(key) || fields.has(key)) return undefined;
    fields.set(key, line.slice(at + 1));
  }
  return fields;
}

function uidOf(text: string | undefined): number | undefined {
  if (text === undefined || !UID.test(text)) return undefined;
  const uid = Number(text);
  return uid < UIDS_END ? uid : undefined;
}

/** The active session, from the state file of a seat; undefined if there is none. */
export function activeOf(seat: string): { id: string; uid: number } | undefined {
  const fields = parseRecord(seat);
  const id = fields?.get('ACTIVE');
  const uid = uidOf(fields?.get('ACTIVE_UID'));
  return id === undefined || uid === undefined || !SESSION_ID.test(id) ? undefined : { id, uid };
}

/** Reads the state file of a session. Undefined unless it is a user's local graphical session that is active on this seat. */
export function sessionOf(record: string, active: { id: string; uid: number }, seat: string): LoginSession | undefined {
  const fields = parseRecord(record);
  if (fields === undefined) return undefined;
  const uid = uidOf(fields.get('UID'));
  const type = fields.get('TYPE');
  const is_persons = ['user', 'user-early'].includes(fields.get('CLASS') ?? '');
  const is_active = fields.get('ACTIVE') === '1' && fields.get('STATE') === 'active' && fields.get('SEAT') === seat;
  if (uid !== active.uid || !is_persons || !is_active || fields.get('REMOTE') === '1') return undefined;
  if (type !== 'x11' && type !== 'wayland') return undefined;
  const display = fields.get('DISPLAY');
  return { id: active.id, uid, type, display: display !== undefined && LOCAL_DISPLAY.test(display) ? display : undefined };
}

/** The text of a state file of logind; undefined if it is missing, not a regular file, or too long. */
async function readRecord(path: string): Promise<string | undefined> {
  const text = await foreignText(path, RECORD_BYTES);
  return text === '' ? undefined : text;
}

const SEAT = 'seat0';

/** The login session that is now active on seat0; undefined if it is not a graphical one. */
export async function readActiveSession(folder = LOGIND_FOLDER): Promise<LoginSession | undefined> {
  const seat = await readRecord(join(folder, 'seats', SEAT));
  const active = seat === undefined ? undefined : activeOf(seat);
  if (active === undefined) return undefined;
  const record = await readRecord(join(folder, 'sessions', active.id));
  return record === undefined ? undefined : sessionOf(record, active, SEAT);
}
