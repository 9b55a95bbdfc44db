// Entry points of the bundles, by the name of the bundle.

/** The server with its commands, processes and threads. Paths are relative to server/. */
export const SERVER_PROGRAMS = {
  main: 'src/main.ts',
  palisade: 'src/palisade.ts',
  'yara-process': '../scanner/src/engine/yara-process.ts',
  'trial-process': '../scanner/src/rules/trial-process.ts',
  'logo-thread': 'src/features/setup/logo-thread.ts',
  'mail-thread': 'src/features/chat/mail-thread.ts',
  'scam-thread': 'src/features/scam-check/scam-thread.ts',
  'picture-process': '../scam/src/picture-process.ts',
  'picture-text-process': '../scam/src/picture-text-process.ts',
};

/** The agent's main program. Paths are relative to agent/. */
export const AGENT_PROGRAM = { 'palisade-agent': 'src/main.ts' };

/** Processes of the agent without an engine. */
export const AGENT_PROCESSES = { 'owner-process': 'src/files/owner-process.ts' };

/** Processes of the agent with an engine; they are ES modules. */
export const AGENT_ENGINES = {
  'yara-process': '../scanner/src/engine/yara-process.ts',
  'set-trial-process': '../scanner/src/rules/set-trial-process.ts',
};

/** The web application. */
export const WEB_PROGRAM = 'web/src/app/main.tsx';

/** Scripts that install and build. They must work without development packages. Paths are relative to scripts/. */
export const BUILD_SCRIPTS = ['bootstrap.mjs', 'build.mjs', 'leaked-passwords.mjs', 'native-packages.mjs'];
