import { readdir, readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';

/** The desktop of this computer that somebody uses. */
export type Desktop =
  | { kind: 'x11'; display: string; xauthority: string | undefined; is_own: boolean }
  | { kind: 'wayland' }
  | { kind: 'none' };

const PROCESSES_MAXIMUM = 5_000;
const LOCAL_DISPLAY = /^:\d+(?:\.\d+)?$/u;

function desktopOf(environment: Record<string, string | undefined>): Desktop | undefined {
  const { DISPLAY, WAYLAND_DISPLAY, XAUTHORITY, HOME } = environment;
  if (WAYLAND_DISPLAY !== undefined && WAYLAND_DISPLAY !== '') return { kind: 'wayland' };
  if (DISPLAY === undefined || !LOCAL_DISPLAY.test(DISPLAY)) return undefined;
  const xauthority = XAUTHORITY ?? (HOME === undefined ? undefined : join(HOME, '.Xauthority'));
  return { kind: 'x11', display: DISPLAY, xauthority, is_own: false };
}

function environmentOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

/** The first desktop among those of `environment` and of running programs: one of X11 before one of Wayland, which can be shown less. */
export async function findDesktop(environment: NodeJS.ProcessEnv): Promise<Desktop> {
  if (platform() !== 'linux') return { kind: 'none' };
  const found: Desktop[] = [];
  const own = desktopOf(environment);
  if (own !== undefined) found.push(own);
  else {
    const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/u.test(name));
    for (const name of names.slice(0, PROCESSES_MAXIMUM)) {
      const text = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
      const desktop = text.includes('DISPLAY=') ? desktopOf(environmentOf(text)) : undefined;
      if (desktop !== undefined) found.push(desktop);
      if (desktop?.kind === 'x11') break;
    }
  }
  const desktop = found.find(({ kind }) => kind === 'x11') ?? found[0];
  if (desktop?.kind !== 'x11') return desktop ?? { kind: 'none' };
  const number = /^:(\d+)/u.exec(desktop.display)?.[1] ?? '0';
  const socket = await stat(`/tmp/.X11-unix/X${number}`).catch(() => undefined);
  return socket === undefined ? { kind: 'none' } : { ...desktop, is_own: socket.uid === process.getuid?.() };
}
