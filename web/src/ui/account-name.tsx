/** A hidden username for password managers, in forms without a visible one. Empty if it is unknown. */
export function AccountName({ email = '' }: { email?: string | undefined }) {
  return <input hidden readOnly name="account_name" autoComplete="username" value={email} />;
}
