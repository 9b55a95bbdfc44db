/** Key of the conversations that wait for a technician (waiting.ts). */
export const WAITING_KEY = ['desk', 'waiting'];
