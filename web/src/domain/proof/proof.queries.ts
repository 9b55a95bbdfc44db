import { type PasskeyAssertion, readTwoFactor, requestPasskeyProof } from '@palisade/contract/two-factor';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { askForPasskey } from '#api/passkey.ts';

export const twoFactorQuery = queryOptions({
  queryKey: ['two-factor'],
  queryFn: ({ signal }) => call(readTwoFactor, { signal }),
});

export type ProofGiven = { code: string } | { recovery_code: string } | { passkey: PasskeyAssertion };

export async function provePasskey() {
  return askForPasskey(await call(requestPasskeyProof));
}
