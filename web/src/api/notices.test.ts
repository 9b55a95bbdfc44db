import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { giveNotice, setNotice } from './notices.ts';

const NEWS = { title: 'tina replied', text: 'Good day', tag: 'conversation' };
const shown: string[] = [];
let sounds = 0;
let permission: NotificationPermission;

class FakeNotification extends EventTarget {
  static get permission() {
    return permission;
  }
  static requestPermission = vi.fn(() => {
    permission = 'granted';
    return Promise.resolve(permission);
  });
  constructor(title: string) {
    super();
    shown.push(title);
  }
}

class FakeAudio {
  currentTime = 0;
  destination = {};
  createOscillator() {
    sounds += 1;
    const tone = Object.assign(new EventTarget(), { frequency: {}, start: vi.fn(), stop: vi.fn() });
    return Object.assign(tone, { connect: (next: unknown) => next });
  }
  createGain() {
    const gain = { setValueAtTime: vi.fn(), exponentialRampToValueAtTime: vi.fn() };
    return { gain, connect: (next: unknown) => next };
  }
}

beforeEach(() => {
  shown.length = 0;
  sounds = 0;
  permission = 'default';
  FakeNotification.requestPermission.mockClear();
  vi.stubGlobal('Notification', FakeNotification);
  vi.stubGlobal('AudioContext', FakeAudio);
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
});

afterEach(() => {
  // Stubs of the set-up stay.
  for (const name of ['Notification', 'AudioContext']) Reflect.deleteProperty(globalThis, name);
});

describe('a message that comes while nobody looks', () => {
  // proves: support-customer-26
  it('makes no sound and shows nothing before somebody has asked for it, and asks the browser for nothing', () => {
    permission = 'granted';
    giveNotice(NEWS);
    expect({ shown, sounds }).toEqual({ shown: [], sounds: 0 });
    expect(FakeNotification.requestPermission).not.toHaveBeenCalled();
  });

  it('is shown by the browser once that was asked for and allowed, and not while the page is in sight', async () => {
    await setNotice('notification', true);
    expect(FakeNotification.requestPermission).toHaveBeenCalledOnce();
    giveNotice(NEWS);
    expect(shown).toEqual(['tina replied']);
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible');
    giveNotice(NEWS);
    expect(shown).toHaveLength(1);
    expect(sounds).toBe(0);
  });

  it('is heard where a sound was asked for, until it is turned off', async () => {
    await setNotice('sound', true);
    const played = sounds;
    expect(played).toBeGreaterThan(0);
    giveNotice(NEWS);
    expect(sounds).toBe(played * 2);
    await setNotice('sound', false);
    giveNotice(NEWS);
    expect(sounds).toBe(played * 2);
    expect(shown).toEqual([]);
  });
});
