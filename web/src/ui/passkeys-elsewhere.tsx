import { Sentence } from './sentence.tsx';

/** Names the address at which passkeys work. */
export function PasskeysElsewhere({ origin }: { origin: string }) {
  return <Sentence text="Passkeys don’t work at this address. Go to {link}." parts={{ link: <a href={origin}>{origin}</a> }} />;
}
