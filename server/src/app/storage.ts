/** The folder of the store of STORAGE_URL in which the files in quarantine are. */
export const QUARANTINE_IN_STORE = 'quarantine';
