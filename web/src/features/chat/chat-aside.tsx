import { IconHeadset, IconShieldCheck } from '@tabler/icons-react';
import { useConfig } from '#api/config.ts';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';

/** Beside the conversation: how to reach a person, and what support never asks for. */
export function ChatAside() {
  const { phone, email } = useConfig()?.support ?? { phone: '', email: '' };
  return (
    <aside className="chat-aside" aria-label="Help beside the chat">
      <section className="card">
        <IconHeadset size={24} stroke={1.7} aria-hidden="true" />
        <h2>Reach a person</h2>
        {phone || email ? (
          <p className="chat-aside__ways">
            {phone && <PhoneLink phone={phone} />}
            {email && <EmailLink email={email} />}
          </p>
        ) : (
          <p className="sub">Your provider has given neither a phone number nor an email address yet.</p>
        )}
      </section>
      <section className="card">
        <IconShieldCheck size={24} stroke={1.7} aria-hidden="true" />
        <h2>We never call first</h2>
        <ul>
          <li>If somebody calls you and says they are from support, hang up.</li>
          <li>Nobody from support asks for a password, a code or a card number.</li>
          <li>Install nothing that a caller tells you to install.</li>
        </ul>
      </section>
    </aside>
  );
}
