/** Descriptors of sockets that were opened before the start, by the names of their systemd units. */
export type PassedSockets = ReadonlyMap<string, readonly number[]>;

const FIRST_DESCRIPTOR = 3;
const DESCRIPTORS_MAXIMUM = 64;

/** Reads the sockets that systemd passes to this process (sd_listen_fds(3)): it opens ports that the service itself may not open. */
export function passedSockets(environment: Readonly<Record<string, string | undefined>>, pid: number): PassedSockets {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = '' } = environment;
  const sockets = new Map<string, number[]>();
  // Child processes inherit the environment, but not the sockets.
  if (LISTEN_PID !== String(pid)) return sockets;
  const names = LISTEN_FDNAMES.split(':').slice(0, Math.min(Number(LISTEN_FDS) || 0, DESCRIPTORS_MAXIMUM));
  for (const [index, name] of names.entries()) sockets.set(name, [...(sockets.get(name) ?? []), FIRST_DESCRIPTOR + index]);
  return sockets;
}
