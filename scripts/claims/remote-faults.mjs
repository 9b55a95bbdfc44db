// Faults of a remote session, and the guaranteed behaviour.

/** @type {import('../proofs.mjs').Claim[]} */
// biome-ignore format: one claim a line
export const REMOTE_FAULTS = [
  { id: 'remote-1', says: 'Two technicians race one code: One wins, the other is answered 404 as for any wrong code' },
  { id: 'remote-2', says: 'Consent after a cancel: 409, whoever came first' },
  { id: 'remote-3', says: 'Ended twice: One row with one end, also at two servers' },
  { id: 'remote-4', says: 'Picker denied: It stays pending, and the customer is told to try again' },
  { id: 'remote-5', says: 'Track ends: The technician knows in less than a second' },
  { id: 'remote-6', says: 'Foreign origin, no token: Refused' },
  { id: 'remote-7', says: 'Technician sends an offer or `sendrecv`: Dropped and logged, without what it said' },
  { id: 'remote-8', says: 'SDP of 1 MB: The socket is closed' },
  { id: 'remote-9', says: 'TURN wrong: Both sides say within 15 seconds that the relay refuses them, and that its secret is another one' },
  { id: 'remote-10', says: 'TURN gone: Both sides are told, also in the middle; the picture comes back with the relay' },
  { id: 'remote-11', says: 'Agent killed: Control off, view stays' },
  { id: 'remote-12', says: 'Malformed RFB: Closed, by the agent' },
  { id: 'remote-13', says: 'Role revoked, sign-out, password change: Sockets closed in at most a second, also at the other server' },
  { id: 'remote-14', says: 'SIGKILL of a server: No session stays active for ever' },
  { id: 'remote-15', says: 'SIGKILL of one of two servers: The other one continues' },
  { id: 'remote-16', says: 'NaN and 2.5 as coordinates: Dropped, by the server and by the page' },
  { id: 'remote-17', says: 'Customer reload: "Share again"' },
  { id: 'remote-18', says: 'Phone browser without getDisplayMedia: It says so, and offers a photo and the chat' },
  { id: 'remote-19', says: 'Microphone refused: The voice stays off, and the person is told where to allow it; the picture and the session go on' },
  { id: 'remote-20', says: 'Microphone unplugged: Muted on both sides, and the press that unmutes opens another one' },
  { id: 'remote-21', says: 'Hundreds of sockets of control that say nothing: A newcomer is admitted; the longest silent one is closed' },
  { id: 'remote-22', says: 'A technician fills the record of a session with what they may do without end: Half of it at the most, and what happens once is recorded however full it is' },
];
