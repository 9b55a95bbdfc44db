import './styles.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { currentSession } from '#api/session.ts';
import { App, loadSignedIn } from './app.tsx';
import { Providers } from './providers.tsx';

// Asked for before the first render: who is signed in needs these files anyway.
if (currentSession()) void loadSignedIn();

const container = document.getElementById('root');
if (!container) throw new Error('index.html has no #root');
createRoot(container).render(
  <StrictMode>
    <Providers>
      <App />
    </Providers>
  </StrictMode>,
);
