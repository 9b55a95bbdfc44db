import type { Config } from '#api/config.ts';

const SENTENCES: Record<Exclude<Config['administrator'], 'there' | 'first_account'>, string> = {
  first_account_on_machine:
    'Create the first account on the server’s own computer. To create it here, set EXPOSURE, PUBLIC_URL, and ADMIN_EMAILS, then restart the server.',
  named_email:
    'There’s no administrator yet. Register with an address in ADMIN_EMAILS. After you sign in, enter the code we email you.',
};

/** The text of Register and Sign In until an administrator exists. */
export function FirstAccount({ administrator }: { administrator: keyof typeof SENTENCES }) {
  return <p className="auth-form__notice">{SENTENCES[administrator]}</p>;
}
