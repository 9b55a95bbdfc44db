/** Storage keys of the session. Apart from the session, whose file waits for zod. */
export const TOKEN_KEY = 'palisade.access_token';
export const USER_KEY = 'palisade.user_info';
