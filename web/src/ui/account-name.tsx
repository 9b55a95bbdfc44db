/** Tells a password manager whose password the form is about, where the form shows no name. Empty where the page does not know it. */
export function AccountName({ email = '' }: { email?: string | undefined }) {
  return <input hidden readOnly name="account_name" autoComplete="username" value={email} />;
}
