import { VERSION } from '@palisade/contract/constants';
import { useEffect } from 'react';
import { useConfig } from '#api/config.ts';
import type { SessionNotice } from '#api/session.ts';
import { Brand } from '#ui/brand.tsx';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';
import { AuthForm } from './auth-form.tsx';
import './auth-page.css';

/** Statements that are true for every installation. */
const PROMISES = [
  'A file is “clean” only after a complete check.',
  'At home, each person has their own devices, rules, and alerts.',
  'You can reach a person, and you approve who sees your screen.',
];

interface AuthPageProps {
  notice: SessionNotice | undefined;
  /** Loads the next screen while the person reads the success message. */
  prepare: () => Promise<unknown>;
}

export function AuthPage({ notice, prepare }: AuthPageProps) {
  const config = useConfig();
  const support = config?.support;

  const provider = config?.provider_name ?? 'Palisade';

  useEffect(() => {
    document.title = `Sign in · ${provider}`;
  }, [provider]);

  return (
    <div className="auth-page">
      <aside className="auth-page__promise" aria-label="About Palisade">
        <Brand provider={config?.provider_name} />
        <div className="auth-page__words">
          <p className="auth-page__claim">Security for your files, messages, and devices, with people who help.</p>
          <ul className="auth-page__promises">
            {PROMISES.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
        <p className="auth-page__version num">v{VERSION}</p>
      </aside>
      <main className="auth-page__main">
        <div className="auth-page__column">
          <div className="auth-page__brand">
            <Brand provider={config?.provider_name} />
          </div>
          <AuthForm notice={notice} config={config} prepare={prepare} />
          {support && (support.phone || support.email) && (
            <p className="auth-page__help">
              Need help? {support.phone && <PhoneLink phone={support.phone} />}
              {support.phone && support.email ? ' · ' : ' '}
              {support.email && <EmailLink email={support.email} />}
            </p>
          )}
        </div>
      </main>
    </div>
  );
}
