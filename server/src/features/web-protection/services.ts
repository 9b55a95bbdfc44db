/** A service that people can block, with the domains that it uses. `source` is the operator's documentation of them. */
export interface WebService {
  id: string;
  name: string;
  kind: 'video' | 'games' | 'chats';
  domains: readonly string[];
  source: string;
}

function rows(kind: WebService['kind'], table: string): WebService[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', domains = '', source = ''] = line.split('|').map((part) => part.trim());
      const id = name
        .toLowerCase()
        .replaceAll(/[^a-z\d]+/gu, '_')
        .replaceAll(/^_|_$/gu, '');
      return { id, name, kind, domains: domains.split(' '), source: `https://${source}` };
    });
}

export const SERVICES: readonly WebService[] = [
  ...rows(
    'video',
    `
    YouTube | youtube.com youtu.be ytimg.com googlevideo.com youtube-nocookie.com youtubei.googleapis.com | support.google.com/youtube
    Netflix | netflix.com nflxvideo.net nflximg.net nflxext.com nflxso.net | help.netflix.com
    Twitch | twitch.tv ttvnw.net jtvnw.net twitchcdn.net | help.twitch.tv
    TikTok | tiktok.com tiktokcdn.com tiktokv.com musical.ly byteoversea.com ibytedtos.com | support.tiktok.com
    Disney+ | disneyplus.com disney-plus.net dssott.com bamgrid.com | help.disneyplus.com
    Prime Video | primevideo.com aiv-cdn.net aiv-delivery.net | www.primevideo.com/help
    Vimeo | vimeo.com vimeocdn.com | help.vimeo.com
    Dailymotion | dailymotion.com dmcdn.net | faq.dailymotion.com
    Hulu | hulu.com hulustream.com huluim.com | help.hulu.com
    Max | max.com hbomax.com hbo.com | help.max.com
    Paramount+ | paramountplus.com cbsivideo.com | support.paramountplus.com
    Crunchyroll | crunchyroll.com vrv.co | help.crunchyroll.com
    Plex | plex.tv plexapp.com plex.direct | support.plex.tv
    Kick | kick.com | help.kick.com
    Rumble | rumble.com rmbl.ws | rumblefaq.groovehq.com
    Bilibili | bilibili.com bilivideo.com hdslb.com biliapi.net | www.bilibili.com
    Spotify | spotify.com scdn.co spotifycdn.com | support.spotify.com
    SoundCloud | soundcloud.com sndcdn.com | help.soundcloud.com
    Deezer | deezer.com dzcdn.net | support.deezer.com
    DAZN | dazn.com indazn.com | www.dazn.com/help
    `,
  ),
  ...rows(
    'games',
    `
    Roblox | roblox.com rbxcdn.com | en.help.roblox.com
    Minecraft | minecraft.net minecraftservices.com mojang.com | help.minecraft.net
    Fortnite and Epic Games | epicgames.com epicgames.dev unrealengine.com fortnite.com | www.epicgames.com/help
    Steam | steampowered.com steamcommunity.com steamcontent.com steamstatic.com steamserver.net | help.steampowered.com
    PlayStation | playstation.com playstation.net sonyentertainmentnetwork.com | www.playstation.com/support
    Xbox | xbox.com xboxlive.com xboxservices.com | support.xbox.com
    Nintendo | nintendo.com nintendo.net nintendo.co.jp | www.nintendo.com/consumer
    Battle.net | battle.net blizzard.com | support.blizzard.com
    Riot Games | riotgames.com leagueoflegends.com playvalorant.com pvp.net | support.riotgames.com
    EA | ea.com origin.com | help.ea.com
    Ubisoft | ubisoft.com ubi.com | www.ubisoft.com/help
    GOG | gog.com gog-statics.com | support.gog.com
    Supercell | supercell.com clashofclans.com clashroyale.com brawlstars.com | help.supercellsupport.com
    King | king.com | www.king.com
    Genshin Impact | hoyoverse.com mihoyo.com | genshin.hoyoverse.com
    PUBG | pubg.com pubgmobile.com | support.pubg.com
    GeForce NOW | geforcenow.com | www.nvidia.com
    Miniclip | miniclip.com miniclipcdn.com | support.miniclip.com
    CrazyGames | crazygames.com | www.crazygames.com
    Poki | poki.com poki-cdn.com | poki.com
    Itch.io | itch.io itch.zone | itch.io/docs
    `,
  ),
  ...rows(
    'chats',
    `
    Facebook | facebook.com facebook.net fbcdn.net fb.com messenger.com m.me | www.facebook.com/help
    Instagram | instagram.com cdninstagram.com ig.me | help.instagram.com
    WhatsApp | whatsapp.com whatsapp.net wa.me | faq.whatsapp.com
    Snapchat | snapchat.com sc-cdn.net snapkit.com snap-dev.net | help.snapchat.com
    Discord | discord.com discordapp.com discord.gg discord.media discordapp.net | support.discord.com
    Telegram | telegram.org t.me telegram.me telesco.pe | telegram.org/faq
    X | x.com twitter.com twimg.com t.co | help.x.com
    Threads | threads.net threads.com | help.instagram.com
    Reddit | reddit.com redd.it redditmedia.com redditstatic.com | support.reddithelp.com
    Pinterest | pinterest.com pinimg.com pin.it | help.pinterest.com
    Tumblr | tumblr.com | help.tumblr.com
    BeReal | bereal.com bere.al | help.bereal.com
    Signal | signal.org whispersystems.org signal.me | support.signal.org
    Viber | viber.com | help.viber.com
    LINE | line.me line-scdn.net | help.line.me
    WeChat | wechat.com weixin.qq.com | help.wechat.com
    Skype | skype.com skypeassets.com | support.microsoft.com/skype
    VK | vk.com vk.ru userapi.com | vk.com/support
    Tinder | tinder.com gotinder.com | www.help.tinder.com
    Omegle and OmeTV | omegle.com ome.tv ometv.com | ome.tv
    `,
  ),
];
