import { IconMicrophone, IconMicrophoneOff } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { mute } from './voice.ts';

export function MuteButton({ isMuted }: { isMuted: boolean }) {
  const Icon = isMuted ? IconMicrophone : IconMicrophoneOff;
  return (
    <Button size="s" variant={isMuted ? 'primary' : 'quiet'} icon={Icon} onClick={() => void mute(!isMuted)}>
      {isMuted ? 'Unmute' : 'Mute'}
    </Button>
  );
}
