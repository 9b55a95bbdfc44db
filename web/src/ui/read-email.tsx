import { shownEmail } from '@palisade/contract/shown-email';

export function ReadEmail({ email }: { email: string }) {
  return shownEmail(email);
}
