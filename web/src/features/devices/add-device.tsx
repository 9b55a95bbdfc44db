import { createEnrolmentCode } from '@palisade/contract/devices';
import { IconPlus } from '@tabler/icons-react';
import { useCallback } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';

/** An address of the machine itself, which leads nobody else here. */
const OWN_MACHINE = /\/\/(?:localhost|127\.|\[::1\])/u;

/** Shows the line that makes a computer a device, for as long as it does. */
export function AddDevice() {
  const isUnproven = useIsUnproven();
  const { mutate, data, error, isPending, reset } = useChange({ mutationFn: () => call(createEnrolmentCode) });
  const end = useCallback(() => reset(), [reset]);
  return (
    <Card title="Add a device">
      <p className="sub">
        A small program on the computer, the agent, applies your firewall rules and scans its files where they are. It runs on
        Linux with nftables. Open a terminal there and run one line.
      </p>
      {isUnproven ? (
        <EmailNeeded what="You can add devices" />
      ) : (
        <div className="add-device">
          {data?.command && (
            <>
              <code className="add-device__command" data-command="">
                {data.command}
              </code>
              {OWN_MACHINE.test(data.command) && (
                <p className="sub">
                  This line works on this computer alone: its address leads nowhere from another one. Others can be added once
                  whoever runs the server has opened it to them.
                </p>
              )}
              <div className="add-device__line">
                <p className="sub">
                  The code <b className="num">{data.code}</b> works once, for{' '}
                  <Countdown until={Date.parse(data.expires_at)} onEnd={end} />.
                </p>
                <CopyButton text={data.command} what="The command" />
              </div>
            </>
          )}
          {data?.refusal && (
            <p className="add-device__refusal" role="alert">
              {data.refusal}
            </p>
          )}
          {error && (
            <p className="add-device__refusal" role="alert">
              {sentenceOf(error)}
            </p>
          )}
          {!data?.command && (
            <div>
              <Button loading={isPending} icon={<IconPlus size={18} stroke={2} aria-hidden="true" />} onClick={() => mutate()}>
                Show the command
              </Button>
            </div>
          )}
          <p role="status" className="visually-hidden">
            {data?.command ? 'The command is shown. It works once, for ten minutes.' : ''}
          </p>
        </div>
      )}
    </Card>
  );
}
