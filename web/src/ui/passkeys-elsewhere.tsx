import { Sentence } from './sentence.tsx';

/** Says at which address passkeys do work. */
export function PasskeysElsewhere({ origin }: { origin: string }) {
  return <Sentence text="Passkeys don’t work at this address. Go to {link}." parts={{ link: <a href={origin}>{origin}</a> }} />;
}
