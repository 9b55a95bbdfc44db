import { isCallable, isMailable } from '@palisade/contract/setup';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconDeviceDesktop, IconMail, IconMessages, IconPhone, IconVideoOff } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useConfig } from '#api/config.ts';
import { useSupportLinks } from '#api/support-links.ts';
import { ButtonLink } from '#ui/button-link.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';

/** All ways to reach a person, and a plain statement of missing ones. */
export function TalkDialog({ onClose }: { onClose: () => void }) {
  const support = useConfig()?.support;
  const { live_chat } = useSupportLinks();
  return (
    <ModalWindow title="Video and live chat" onClose={onClose}>
      <ul className="talk">
        <Way icon={<IconMessages size={20} stroke={1.7} />} title="Live chat" sentence="Opens the chat in a window of its own.">
          <ButtonLink variant="primary" href={live_chat} isNewWindow onClick={onClose}>
            Open live chat
          </ButtonLink>
        </Way>
        {support?.phone && (
          <Way icon={<IconPhone size={20} stroke={1.7} />} title="Phone" sentence={support.phone}>
            {isCallable(support.phone) && <ButtonLink href={`tel:${support.phone}`}>Call now</ButtonLink>}
          </Way>
        )}
        {support?.email && (
          <Way icon={<IconMail size={20} stroke={1.7} />} title="Email" sentence={shownEmail(support.email)}>
            {isMailable(support.email) && <ButtonLink href={`mailto:${support.email}`}>Write an email</ButtonLink>}
          </Way>
        )}
        <Way
          icon={<IconDeviceDesktop size={20} stroke={1.7} />}
          title="Remote session"
          sentence="Give a technician a code, and be guided step by step."
        >
          <Link to="/remote" onClick={onClose}>
            Go to Remote Access
          </Link>
        </Way>
        <Way
          icon={<IconVideoOff size={20} stroke={1.7} />}
          title="Video"
          sentence="Video calls are not part of this version. Call support, and a technician guides you by phone."
        />
      </ul>
    </ModalWindow>
  );
}

function Way({ icon, title, sentence, children }: { icon: ReactNode; title: string; sentence: string; children?: ReactNode }) {
  return (
    <li className="talk__way">
      <span className="talk__icon" aria-hidden="true">
        {icon}
      </span>
      <div>
        <h3>{title}</h3>
        <p className="sub">{sentence}</p>
      </div>
      {children}
    </li>
  );
}
