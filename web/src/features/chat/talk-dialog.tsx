import { isCallable, isMailable } from '@palisade/contract/contact';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconDeviceDesktop, IconMail, IconMessages, IconPhone, IconVideoOff, type TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useConfig } from '#api/config.ts';
import { useSupportLinks } from '#api/support-links.ts';
import { Address } from '#ui/address.tsx';
import { IconTile } from '#ui/badge.tsx';
import { ButtonLink } from '#ui/button-link.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';

/** All ways to reach a person; says plainly which ones do not exist. */
export function TalkDialog({ onClose }: { onClose: () => void }) {
  const support = useConfig()?.support;
  const { live_chat } = useSupportLinks();
  return (
    <ModalWindow title="Video and live chat" onClose={onClose}>
      <Stack as="ul" lines>
        <Way icon={IconMessages} title="Live chat" sentence="Opens the chat in a window of its own.">
          <ButtonLink variant="primary" href={live_chat} isNewWindow onClick={onClose}>
            Open live chat
          </ButtonLink>
        </Way>
        {support?.phone && (
          <Way icon={IconPhone} title="Phone" sentence={support.phone}>
            {isCallable(support.phone) && <ButtonLink href={`tel:${support.phone}`}>Call now</ButtonLink>}
          </Way>
        )}
        {support?.email && (
          <Way icon={IconMail} title="Email" sentence={<Address text={shownEmail(support.email)} />}>
            {isMailable(support.email) && <ButtonLink href={`mailto:${support.email}`}>Write an email</ButtonLink>}
          </Way>
        )}
        <Way icon={IconDeviceDesktop} title="Remote session" sentence="Give a technician a code, and be guided step by step.">
          <Link to="/remote" onClick={onClose}>
            Go to Remote Access
          </Link>
        </Way>
        <Way
          icon={IconVideoOff}
          title="Video"
          sentence="Video calls are not part of this version. Call support, and a technician guides you by phone."
        />
      </Stack>
    </ModalWindow>
  );
}

function Way({
  icon,
  title,
  sentence,
  children,
}: {
  icon: TablerIcon;
  title: string;
  sentence: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Grid as="li" columns="both" phone="under" gap="3" rowGap="1" align="center" className="pad-row">
      <IconTile tone="safe" icon={icon} />
      <div>
        <h3 className="base bold">{title}</h3>
        <p className="sub break">{sentence}</p>
      </div>
      {children}
    </Grid>
  );
}
