import { isCallable, isMailable } from '@palisade/contract/contact';
import { Address } from './address.tsx';
import { lazyPart } from './lazy-part.tsx';

/** Loaded for a domain with non-ASCII letters, so that the first visit does not load its decoder. */
const ReadEmail = lazyPart(async () => (await import('./read-email.tsx')).ReadEmail);

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
  const shown = /xn--/iu.test(email) ? (
    <bdi>
      <ReadEmail email={email} meanwhile={email} />
    </bdi>
  ) : (
    <Address text={email} />
  );
  return isMailable(email) ? <a href={`mailto:${email}`}>{shown}</a> : <span>{shown}</span>;
}
