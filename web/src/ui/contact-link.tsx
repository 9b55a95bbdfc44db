import { isCallable, isMailable } from '@palisade/contract/setup';
import { shownEmail } from '@palisade/contract/shown-email';

/** A phone number that can be called from here; as it is written where no link can call it. */
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

/** An address that can be written to from here; as it is written where no link can. */
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
