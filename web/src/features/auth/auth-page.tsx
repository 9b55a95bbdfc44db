import { VERSION } from '@palisade/contract/constants';
import { useEffect } from 'react';
import { useConfig } from '#api/config.ts';
import type { SessionNotice } from '#api/session.ts';
import { StatusBadge } from '#domain/scan/status-badge.tsx';
import { Brand, BrandMark } from '#ui/brand.tsx';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';
import { AuthForm } from './auth-form.tsx';
import './auth-page.css';

/** Meaning of each scan result. True for every scan, so this screen can promise it. */
const ANSWERS = [
  { status: 'clean', meaning: 'We checked the whole file and found no threats.' },
  { status: 'infected', meaning: 'We found a threat. You’ll see what it is and what to do.' },
  { status: 'pending', meaning: 'The check isn’t complete. You’ll see why.' },
] as const;

interface AuthPageProps {
  notice: SessionNotice | undefined;
  /** Loads the next screen while the person reads the message of success. */
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
          <p className="auth-page__claim">Files are “clean” only after a complete check.</p>
          <ul className="auth-page__answers">
            {ANSWERS.map(({ status, meaning }) => (
              <li key={status}>
                <StatusBadge status={status} />
                <span>{meaning}</span>
              </li>
            ))}
          </ul>
        </div>
        <p className="auth-page__version num">v{VERSION}</p>
      </aside>
      <main className="auth-page__main">
        <div className="auth-page__column">
          <div className="auth-page__brand">
            <BrandMark size={44} />
          </div>
          <AuthForm notice={notice} config={config} prepare={prepare} />
          {support && (support.phone || support.email) && (
            <p className="auth-page__help">
              Can’t sign in? {support.phone && <PhoneLink phone={support.phone} />}{' '}
              {support.email && <EmailLink email={support.email} />}
            </p>
          )}
        </div>
      </main>
    </div>
  );
}
