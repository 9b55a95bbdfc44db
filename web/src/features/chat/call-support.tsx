import { isCallable } from '@palisade/contract/contact';
import { IconPhone } from '@tabler/icons-react';
import { useConfig } from '#api/config.ts';
import { ButtonLink } from '#ui/button-link.tsx';

/** Calls support. Without a phone number that can be called there is no button. */
export function CallSupport() {
  const phone = useConfig()?.support.phone;
  if (!phone || !isCallable(phone)) return null;
  return (
    <ButtonLink href={`tel:${phone}`} size="s" icon={IconPhone} title={`Call ${phone}`}>
      Call support
    </ButtonLink>
  );
}
