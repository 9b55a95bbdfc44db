import {
  activateTotp,
  addPasskey,
  confirmIdentity,
  type Passkey,
  removePasskey,
  removeTotp,
  renamePasskey,
  renewRecoveryCodes,
  requestNewPasskey,
  startTotp,
  turnTwoFactorOff,
} from '@palisade/contract/two-factor';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { makePasskey } from '#api/passkey.ts';
import type { ProofGiven } from '#domain/proof/proof.queries.ts';

/** A change of two-factor sign-in that takes several steps. */
export type TwoFactorTask =
  | { kind: 'app' | 'new_app' | 'passkey' | 'codes' | 'off' | 'remove_app' }
  | { kind: 'remove_passkey'; passkey: Passkey };

/** Values that set up an authenticator app. */
export interface AppSetup {
  secret: string;
  uri: string;
}

/** The next step of a task. `elsewhere` is the address at which a refused task would work. */
export type TaskOutcome =
  | { next: 'scan'; setup: AppSetup }
  | { next: 'codes'; codes: string[] }
  | { next: 'done' }
  | { next: 'refused'; message: string; elsewhere: string | undefined };

const afterCodes = (codes: string[] | null): TaskOutcome => (codes === null ? { next: 'done' } : { next: 'codes', codes });

/** Confirms the person's identity with the password and, if set up, the second factor. Returns how long the confirmation lasts, in seconds. */
export async function confirmWho(current_password: string, proof: ProofGiven | undefined): Promise<number> {
  return (await call(confirmIdentity, { body: { current_password, ...proof } })).expires_in;
}

/** Performs a task. Throws `confirmation_required` until `confirmWho` has confirmed the identity. `name` is the name of a new passkey. */
async function perform(task: TwoFactorTask, name: string): Promise<TaskOutcome> {
  switch (task.kind) {
    case 'app':
    case 'new_app':
      return { next: 'scan', setup: await call(startTotp) };
    case 'passkey': {
      const made = await makePasskey(await call(requestNewPasskey));
      if (!made.ok) return { next: 'refused', message: made.message, elsewhere: made.origin };
      return afterCodes((await call(addPasskey, { body: { name, passkey: made.answer } })).recovery_codes);
    }
    case 'codes':
      return { next: 'codes', codes: (await call(renewRecoveryCodes)).recovery_codes };
    case 'off':
      await call(turnTwoFactorOff);
      return { next: 'done' };
    case 'remove_app':
      await call(removeTotp);
      return { next: 'done' };
    case 'remove_passkey':
      await call(removePasskey, { params: { id: task.passkey.id } });
      return { next: 'done' };
  }
}

export function usePerform(task: TwoFactorTask) {
  return useChange({
    of: [addPasskey, renewRecoveryCodes, turnTwoFactorOff, removeTotp, removePasskey],
    mutationFn: (name: string) => perform(task, name),
  });
}

export function useActivateTotp() {
  return useChange({ of: activateTotp, mutationFn: (code: string) => call(activateTotp, { body: { code } }) });
}

export function useRenamePasskey() {
  return useChange({
    of: renamePasskey,
    mutationFn: ({ id, name }: { id: string; name: string }) => call(renamePasskey, { params: { id }, body: { name } }),
  });
}
