import { isCallable, isMailable } from '@palisade/contract/setup';
import { shownEmail } from '@palisade/contract/shown-email';

/** A phone number as a link; plain text if it cannot be dialled. */
export function PhoneLink({ phone }: { phone: string }) {
  return isCallable(phone) ? (
    <a href={`tel:${phone}`}>
      <bdi>{phone}</bdi>
    </a>
  ) : (
    <span>
      <bdi>{phone}</bdi>
    </span>
  );
}

/** An email address as a link; plain text if it is not a valid address. */
export function EmailLink({ email }: { email: string }) {
  return isMailable(email) ? (
    <a href={`mailto:${email}`}>
      <bdi>{shownEmail(email)}</bdi>
    </a>
  ) : (
    <span>
      <bdi>{shownEmail(email)}</bdi>
    </span>
  );
}
