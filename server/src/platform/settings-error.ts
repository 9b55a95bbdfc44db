/** A setting that the server cannot start with. `message` is one line that names the variable and says what to set. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}
