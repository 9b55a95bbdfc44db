/** Storage keys of the session. In a separate file, because session.ts also loads zod. */
export const TOKEN_KEY = 'palisade.access_token';
export const USER_KEY = 'palisade.user_info';
