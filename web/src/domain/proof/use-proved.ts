import type { TwoFactor } from '@palisade/contract/two-factor';
import { useQueryClient } from '@tanstack/react-query';
import { type ChangeOptions, useChange } from '#api/change.ts';
import { twoFactorQuery } from './proof.queries.ts';
import { type Proof, useProofForm } from './proof-fields.tsx';

/** A form that performs `act` after its person has proved their identity. `onDone` is not called if the browser gave no passkey. */
export function useProved<Result>(
  twoFactor: TwoFactor,
  act: (given: Proof) => Promise<Result>,
  onDone: (result: Result) => void,
  shown: Pick<ChangeOptions<unknown, void>, 'of' | 'renews'> = {},
) {
  const queries = useQueryClient();
  const proof = useProofForm(twoFactor);
  const task = useChange({
    ...shown,
    mutationFn: async () => {
      const given = await proof.give();
      return given === undefined ? undefined : { result: await act(given) };
    },
    onSuccess: (done) => {
      if (done) onDone(done.result);
    },
    onError: (error) => {
      proof.refuse(error);
      // The server may know a second factor that this page does not.
      void queries.invalidateQueries({ queryKey: twoFactorQuery.queryKey });
    },
  });

  function submit() {
    proof.clear();
    task.mutate();
  }

  return { proof, form: { error: task.error, busy: task.isPending, onSubmit: submit }, isDone: task.data !== undefined };
}
