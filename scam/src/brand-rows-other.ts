import type { BrandRow } from './brand-rows.ts';

// The comment of a row is the organisation's website, where its domains can be verified.
// biome-ignore format: one row a line
export const OTHER_ROWS: readonly BrandRow[] = [
  // Shops
  ['Amazon', 'shop', '*', 'amazon.com amazon.de amazon.co.uk amazon.fr amazon.it amazon.es amazon.nl amazon.pl amazon.ca ' +
    'amazon.com.br amazon.com.au amazon.in amazon.co.jp amazonaws.com amzn.to amzn.eu a.co media-amazon.com amazon.jobs ' +
    'amazonses.com amazon-adsystem.com amazonpay.com payments-amazon.com amazon.dev amazontrust.com amazon.se amazon.com.be ' +
    'amazon.com.mx amazon.sg amazonvideo.com primevideo.com ssl-images-amazon.com', 'amazon amazonprime amzn'], // www.amazon.com
  ['eBay', 'shop', '*',
    'ebay.com ebay.de ebay.co.uk ebay.fr ebay.it ebay.es ebay.ca ebay.com.au ebaystatic.com ebay.at ebay.nl ebay.pl',
    'ebay!'], // www.ebay.com
  ['AliExpress', 'shop', '*',
    'aliexpress.com aliexpress.us alibaba.com alibaba-inc.com alibabacloud.com aliexpress-media.com aliexpress.ru',
    'aliexpress alibaba'], // www.aliexpress.com
  ['Temu', 'shop', '*', 'temu.com', 'temu'], // www.temu.com
  ['Shein', 'shop', '*', 'shein.com shein.co.uk', 'shein'], // www.shein.com
  ['Zalando', 'shop', '*', 'zalando.de zalando.com zalando.fr zalando.it zalando.nl zalando.pl zalando.es zalando.co.uk'], // www.zalando.de
  ['Vinted', 'shop', '*',
    'vinted.com vinted.fr vinted.de vinted.it vinted.es vinted.pl vinted.nl vinted.co.uk vinted.pt'], // www.vinted.com
  ['Etsy', 'shop', '*', 'etsy.com', 'etsy'], // www.etsy.com
  ['IKEA', 'shop', '*', 'ikea.com', 'ikea'], // www.ikea.com
  ['Walmart', 'shop', 'en', 'walmart.com walmart.ca'], // www.walmart.com
  ['Target', 'shop', 'en', 'target.com', 'target!'], // www.target.com
  ['Costco', 'shop', 'en', 'costco.com costco.co.uk'], // www.costco.com
  ['Best Buy', 'shop', 'en', 'bestbuy.com bestbuy.ca', 'bestbuy'], // www.bestbuy.com
  ['Tesco', 'shop', 'en', 'tesco.com tescobank.com', 'tesco tescobank'], // www.tesco.com
  ['Sainsbury’s', 'shop', 'en', 'sainsburys.co.uk', 'sainsburys'], // www.sainsburys.co.uk
  ['Asda', 'shop', 'en', 'asda.com', 'asda'], // www.asda.com
  ['Argos', 'shop', 'en', 'argos.co.uk', 'argos!'], // www.argos.co.uk
  ['Aldi', 'shop', '*', 'aldi.com aldi.co.uk aldi-sued.de aldi-nord.de aldi.us aldi.nl aldi.es hofer.at', 'aldi'], // www.aldi.com
  ['Lidl', 'shop', '*', 'lidl.com lidl.de lidl.co.uk lidl.fr lidl.it lidl.es lidl.nl lidl.pl lidl.pt lidl.at', 'lidl'], // www.lidl.com
  ['REWE', 'shop', 'de', 'rewe.de rewe-group.com', 'rewe'], // www.rewe.de
  ['Edeka', 'shop', 'de', 'edeka.de', 'edeka'], // www.edeka.de
  ['MediaMarkt', 'shop', 'de es it nl pl', 'mediamarkt.de mediamarkt.es mediamarkt.nl mediamarkt.at mediaworld.it mediamarkt.pl',
    'mediamarkt mediaworld'], // www.mediamarkt.de
  ['OTTO', 'shop', 'de', 'otto.de', 'otto!'], // www.otto.de
  ['Kleinanzeigen', 'shop', 'de', 'kleinanzeigen.de ebay-kleinanzeigen.de', 'kleinanzeigen ebaykleinanzeigen'], // www.kleinanzeigen.de
  ['willhaben', 'shop', 'de', 'willhaben.at'], // www.willhaben.at
  ['Payback', 'shop', 'de it pl', 'payback.de payback.at payback.it', 'payback!'], // www.payback.de
  ['Carrefour', 'shop', 'fr es it', 'carrefour.fr carrefour.es carrefour.it carrefour.com'], // www.carrefour.fr
  ['Leclerc', 'shop', 'fr', 'e.leclerc leclerc.com', 'leclerc eleclerc'], // www.e.leclerc
  ['Leboncoin', 'shop', 'fr', 'leboncoin.fr'], // www.leboncoin.fr
  ['Cdiscount', 'shop', 'fr', 'cdiscount.com'], // www.cdiscount.com
  ['Fnac', 'shop', 'fr es pt', 'fnac.com fnac.es fnac.pt', 'fnac'], // www.fnac.com
  ['Decathlon', 'shop', '*', 'decathlon.com decathlon.fr decathlon.de decathlon.es decathlon.it decathlon.co.uk decathlon.pl ' +
    'decathlon.net decathlon.pt decathlon.be'], // www.decathlon.com
  ['Mercadona', 'shop', 'es', 'mercadona.es mercadona.com'], // www.mercadona.es
  ['El Corte Inglés', 'shop', 'es', 'elcorteingles.es', 'elcorteingles'], // www.elcorteingles.es
  ['Wallapop', 'shop', 'es it', 'wallapop.com'], // www.wallapop.com
  ['Mercado Libre', 'shop', 'es pt',
    'mercadolibre.com mercadolivre.com mercadolibre.com.ar mercadolibre.com.mx mercadolivre.com.br',
    'mercadolibre mercadolivre'], // www.mercadolibre.com
  ['Esselunga', 'shop', 'it', 'esselunga.it'], // www.esselunga.it
  ['Conad', 'shop', 'it', 'conad.it', 'conad'], // www.conad.it
  ['Subito', 'shop', 'it', 'subito.it', 'subito!'], // www.subito.it
  ['Unieuro', 'shop', 'it', 'unieuro.it'], // www.unieuro.it
  ['Continente', 'shop', 'pt', 'continente.pt', 'continente!'], // www.continente.pt
  ['Pingo Doce', 'shop', 'pt', 'pingodoce.pt', 'pingodoce'], // www.pingodoce.pt
  ['Worten', 'shop', 'pt', 'worten.pt worten.es'], // www.worten.pt
  ['OLX', 'shop', 'pl pt', 'olx.pl olx.pt olx.com.br olx.ro olx.com', 'olx'], // www.olx.pl
  ['Magalu', 'shop', 'pt', 'magazineluiza.com.br magalu.com', 'magalu magazineluiza'], // www.magazineluiza.com.br
  ['bol', 'shop', 'nl', 'bol.com', 'bol!'], // www.bol.com
  ['Albert Heijn', 'shop', 'nl', 'ah.nl ah.be', 'albertheijn'], // www.ah.nl
  ['Coolblue', 'shop', 'nl', 'coolblue.nl coolblue.be coolblue.de'], // www.coolblue.nl
  ['Marktplaats', 'shop', 'nl', 'marktplaats.nl'], // www.marktplaats.nl
  ['Allegro', 'shop', 'pl', 'allegro.pl allegrolokalnie.pl allegro.eu', 'allegro! allegrolokalnie'], // allegro.pl
  ['Biedronka', 'shop', 'pl', 'biedronka.pl'], // www.biedronka.pl
  // Technology
  ['Microsoft', 'technology', '*', 'microsoft.com microsoftonline.com office.com live.com outlook.com windows.com msn.com ' +
    'azure.com sharepoint.com microsoft365.com office365.com onedrive.com hotmail.com skype.com visualstudio.com windows.net ' +
    'xbox.com bing.com cloud.microsoft s-microsoft.com sharepointonline.com microsoftonline-p.com microsoft.net ' +
    'microsoftazuread-sso.com microsoftstream.com outlook.live.com',
    'microsoft office365 microsoftonline microsoft365 onedrive sharepoint'], // www.microsoft.com
  ['Outlook', 'technology', '*', 'outlook.com outlook.live.com live.com', 'outlook! hotmail'], // outlook.live.com
  ['Apple', 'technology', '*', 'apple.com icloud.com me.com itunes.com apple.co cdn-apple.com mzstatic.com apple.news',
    'apple! icloud! itunes appleid iphone!'], // www.apple.com
  ['Google', 'technology', '*', 'google.com google.de google.co.uk google.fr google.it google.es google.nl google.pl ' +
    'google.pt google.com.br goo.gl g.co gmail.com googleapis.com gstatic.com googleusercontent.com youtube.com ' +
    'withgoogle.com google-analytics.com googletagmanager.com googlesyndication.com googleadservices.com googlemail.com ' +
    'googleblog.com googlegroups.com googlevideo.com googlecode.com googledrive.com googletagservices.com googleoptimize.com ' +
    'googlezip.net googlehosted.com', 'google gmail! googlemail'], // www.google.com
  ['YouTube', 'streaming', '*', 'youtube.com youtu.be ytimg.com youtube-nocookie.com', 'youtube'], // www.youtube.com
  ['Adobe', 'technology', '*',
    'adobe.com adobesign.com adobelogin.com typekit.net adobe.net adobeconnect.com adobedtm.com adobedc.net adobe.io adobess.com',
    'adobe'], // www.adobe.com
  ['Dropbox', 'technology', '*', 'dropbox.com dropboxusercontent.com db.tt'], // www.dropbox.com
  ['DocuSign', 'technology', '*', 'docusign.com docusign.net', 'docusign'], // www.docusign.com
  ['Zoom', 'technology', '*', 'zoom.us zoom.com zoom.gov', 'zoom!'], // www.zoom.com
  ['WeTransfer', 'technology', '*', 'wetransfer.com we.tl wetransfer.net', 'wetransfer'], // wetransfer.com
  ['GitHub', 'technology', '*', 'github.com githubusercontent.com githubassets.com github.blog', 'github'], // github.com
  ['Samsung', 'technology', '*', 'samsung.com samsungcloud.com', 'samsung'], // www.samsung.com
  ['Yahoo', 'technology', '*',
    'yahoo.com yahoo.co.jp yahoo.de yahoo.fr yahoo.co.uk ymail.com yimg.com yahooinc.com yahoo.net yahooapis.com yahoodns.net',
    'yahoo'], // www.yahoo.com
  ['AOL', 'technology', 'en', 'aol.com aol.co.uk', 'aol'], // www.aol.com
  ['GMX', 'technology', 'de', 'gmx.net gmx.de gmx.at gmx.ch gmx.com', 'gmx'], // www.gmx.net
  ['WEB.DE', 'technology', 'de', 'web.de', 'webde!'], // web.de
  ['IONOS', 'technology', 'de en es fr', 'ionos.de ionos.com ionos.co.uk ionos.fr ionos.es 1and1.com ionoscloud.com ionos.space',
    'ionos'], // www.ionos.com
  ['STRATO', 'technology', 'de', 'strato.de', 'strato!'], // www.strato.de
  ['GoDaddy', 'technology', '*', 'godaddy.com secureserver.net', 'godaddy'], // www.godaddy.com
  ['OVHcloud', 'technology', 'fr pl', 'ovh.com ovhcloud.com ovh.net', 'ovhcloud'], // www.ovhcloud.com
  ['Aruba', 'technology', 'it', 'aruba.it pec.it', 'aruba!'], // www.aruba.it
  ['Cloudflare', 'technology', '*', 'cloudflare.com cloudflare.net one.one cloudflareinsights.com cloudflareaccess.com',
    'cloudflare'], // www.cloudflare.com
  ['Canva', 'technology', '*', 'canva.com', 'canva'], // www.canva.com
  ['OpenAI', 'technology', '*', 'openai.com chatgpt.com', 'openai! chatgpt'], // openai.com
  ['AnyDesk', 'technology', '*', 'anydesk.com', 'anydesk'], // anydesk.com
  ['TeamViewer', 'technology', '*', 'teamviewer.com', 'teamviewer'], // www.teamviewer.com
  ['HP', 'technology', '*', 'hp.com', 'hpsupport'], // www.hp.com
  ['Dell', 'technology', '*', 'dell.com', 'dell!'], // www.dell.com
  // Security programs
  ['Norton', 'security', '*', 'norton.com nortonlifelock.com', 'norton! nortonlifelock'], // www.norton.com
  ['McAfee', 'security', '*', 'mcafee.com', 'mcafee'], // www.mcafee.com
  ['Kaspersky', 'security', '*', 'kaspersky.com kaspersky.de'], // www.kaspersky.com
  ['Bitdefender', 'security', '*', 'bitdefender.com'], // www.bitdefender.com
  ['Avast', 'security', '*', 'avast.com avg.com', 'avast'], // www.avast.com
  ['Malwarebytes', 'security', '*', 'malwarebytes.com'], // www.malwarebytes.com
  ['LastPass', 'security', '*', 'lastpass.com', 'lastpass'], // www.lastpass.com
  ['1Password', 'security', '*', '1password.com 1password.eu', '1password'], // 1password.com
  // Social
  ['Facebook', 'social', '*', 'facebook.com fb.com fb.me facebookmail.com fbcdn.net messenger.com meta.com facebook.net ' +
    'facebookcorewwwi.onion facebookblueprint.com facebookmail.com', 'facebook'], // www.facebook.com
  ['Instagram', 'social', '*', 'instagram.com cdninstagram.com instagr.am ig.me', 'instagram'], // www.instagram.com
  ['WhatsApp', 'social', '*', 'whatsapp.com wa.me whatsapp.net', 'whatsapp'], // www.whatsapp.com
  ['Telegram', 'social', '*', 'telegram.org t.me telegram.me telegram.dog', 'telegram'], // telegram.org
  ['TikTok', 'social', '*', 'tiktok.com tiktokcdn.com tiktokv.com tiktokv.us tiktokw.us tiktokcdn-us.com tiktokcdn-eu.com ' +
    'tiktokv.eu tiktokw.eu tiktokglobalshop.com', 'tiktok'], // www.tiktok.com
  ['Snapchat', 'social', '*', 'snapchat.com snap.com', 'snapchat'], // www.snapchat.com
  ['LinkedIn', 'social', '*', 'linkedin.com lnkd.in licdn.com', 'linkedin'], // www.linkedin.com
  ['X', 'social', '*', 'x.com twitter.com t.co twimg.com', 'twitter'], // x.com
  ['Discord', 'social', '*', 'discord.com discord.gg discordapp.com discord.gift discordapp.net discord.new',
    'discord discordapp'], // discord.com
  ['Reddit', 'social', '*', 'reddit.com redd.it redditmedia.com redditstatic.com', 'reddit'], // www.reddit.com
  ['Pinterest', 'social', '*', 'pinterest.com pin.it pinimg.com pinterest.de pinterest.fr', 'pinterest'], // www.pinterest.com
  ['Tinder', 'social', '*', 'tinder.com gotinder.com', 'tinder'], // tinder.com
  // Streaming and games
  ['Netflix', 'streaming', '*', 'netflix.com nflxext.com nflximg.net netflix.net nflxvideo.net', 'netflix'], // www.netflix.com
  ['Spotify', 'streaming', '*', 'spotify.com scdn.co spotify.link spotifycdn.com', 'spotify'], // www.spotify.com
  ['Disney+', 'streaming', '*', 'disneyplus.com disney.com go.com disney.co.uk disney.de', 'disneyplus disney'], // www.disneyplus.com
  ['Hulu', 'streaming', 'en', 'hulu.com', 'hulu'], // www.hulu.com
  ['DAZN', 'streaming', '*', 'dazn.com', 'dazn'], // www.dazn.com
  ['Steam', 'game', '*', 'steampowered.com steamcommunity.com valvesoftware.com s.team steamstatic.com',
    'steam! steampowered steamcommunity'], // store.steampowered.com
  ['Epic Games', 'game', '*', 'epicgames.com fortnite.com', 'epicgames fortnite'], // www.epicgames.com
  ['PlayStation', 'game', '*', 'playstation.com sony.com sonyentertainmentnetwork.com', 'playstation'], // www.playstation.com
  ['Nintendo', 'game', '*', 'nintendo.com nintendo.de nintendo.co.uk nintendo.net', 'nintendo'], // www.nintendo.com
  ['Roblox', 'game', '*', 'roblox.com rbxcdn.com', 'roblox'], // www.roblox.com
  ['Twitch', 'streaming', '*', 'twitch.tv', 'twitch'], // www.twitch.tv
  // Crypto
  ['Coinbase', 'crypto', '*', 'coinbase.com', 'coinbase'], // www.coinbase.com
  ['Binance', 'crypto', '*', 'binance.com binance.us binance.org binance.info binance.vision binance.charity',
    'binance'], // www.binance.com
  ['Kraken', 'crypto', '*', 'kraken.com', 'kraken'], // www.kraken.com
  ['Bitpanda', 'crypto', 'de', 'bitpanda.com'], // www.bitpanda.com
  ['Crypto.com', 'crypto', '*', 'crypto.com', 'cryptocom'], // crypto.com
  ['MetaMask', 'crypto', '*', 'metamask.io', 'metamask'], // metamask.io
  ['Ledger', 'crypto', '*', 'ledger.com', 'ledger!'], // www.ledger.com
  ['Trezor', 'crypto', '*', 'trezor.io', 'trezor'], // trezor.io
  ['Trust Wallet', 'crypto', '*', 'trustwallet.com', 'trustwallet'], // trustwallet.com
  ['Blockchain.com', 'crypto', '*', 'blockchain.com blockchain.info', 'blockchain!'], // www.blockchain.com
  ['OpenSea', 'crypto', '*', 'opensea.io', 'opensea'], // opensea.io
  ['eToro', 'crypto', '*', 'etoro.com', 'etoro'], // www.etoro.com
  // Telecom
  ['Deutsche Telekom', 'telecom', 'de', 'telekom.de telekom.com t-online.de magenta.at', 'telekom'], // www.telekom.de
  ['Vodafone', 'telecom', '*',
    'vodafone.de vodafone.com vodafone.co.uk vodafone.it vodafone.es vodafone.pt vodafone.ie vodafone.nl'], // www.vodafone.com
  ['O2', 'telecom', 'de en', 'o2.co.uk o2online.de o2.de telefonica.com telefonica.de', 'o2online'], // www.o2.co.uk
  ['1&1', 'telecom', 'de', '1und1.de', '1und1'], // www.1und1.de
  ['EE', 'telecom', 'en', 'ee.co.uk', 'eemobile!'], // ee.co.uk
  ['BT', 'telecom', 'en', 'bt.com btinternet.com', 'btinternet'], // www.bt.com
  ['Sky', 'telecom', 'en de it', 'sky.com sky.de sky.it', 'sky!'], // www.sky.com
  ['Virgin Media', 'telecom', 'en', 'virginmedia.com virginmediao2.co.uk', 'virginmedia'], // www.virginmedia.com
  ['AT&T', 'telecom', 'en', 'att.com att.net', 'att!'], // www.att.com
  ['Verizon', 'telecom', 'en', 'verizon.com verizonwireless.com', 'verizon'], // www.verizon.com
  ['T-Mobile', 'telecom', 'en nl pl', 't-mobile.com t-mobile.pl t-mobile.nl t-mobile.cz', 'tmobile!'], // www.t-mobile.com
  ['Xfinity', 'telecom', 'en', 'xfinity.com comcast.net comcast.com', 'xfinity comcast'], // www.xfinity.com
  ['Orange', 'telecom', 'fr es pl', 'orange.fr orange.com orange.es orange.pl orange.be', 'orange!'], // www.orange.com
  ['SFR', 'telecom', 'fr', 'sfr.fr', 'sfr'], // www.sfr.fr
  ['Bouygues Telecom', 'telecom', 'fr', 'bouyguestelecom.fr', 'bouygues bouyguestelecom'], // www.bouyguestelecom.fr
  ['Free', 'telecom', 'fr', 'free.fr', 'freemobile'], // www.free.fr
  ['Movistar', 'telecom', 'es', 'movistar.es movistar.com telefonica.es'], // www.movistar.es
  ['TIM', 'telecom', 'it', 'tim.it telecomitalia.it', 'tim! telecomitalia'], // www.tim.it
  ['WindTre', 'telecom', 'it', 'windtre.it', 'windtre'], // www.windtre.it
  ['MEO', 'telecom', 'pt', 'meo.pt', 'meo!'], // www.meo.pt
  ['NOS', 'telecom', 'pt', 'nos.pt', 'nos!'], // www.nos.pt
  ['KPN', 'telecom', 'nl', 'kpn.com', 'kpn'], // www.kpn.com
  ['Ziggo', 'telecom', 'nl', 'ziggo.nl', 'ziggo'], // www.ziggo.nl
  ['Odido', 'telecom', 'nl', 'odido.nl', 'odido'], // www.odido.nl
  ['Swisscom', 'telecom', 'de fr it', 'swisscom.ch swisscom.com bluewin.ch'], // www.swisscom.ch
  // Energy
  ['E.ON', 'energy', 'de en it', 'eon.de eon.com eonenergy.com', 'eonenergy'], // www.eon.de
  ['Vattenfall', 'energy', 'de nl', 'vattenfall.de vattenfall.nl vattenfall.com'], // www.vattenfall.de
  ['British Gas', 'energy', 'en', 'britishgas.co.uk', 'britishgas'], // www.britishgas.co.uk
  ['EDF', 'energy', 'fr en', 'edf.fr edfenergy.com edf.com', 'edf edfenergy'], // www.edf.fr
  ['Engie', 'energy', 'fr it', 'engie.fr engie.com engie.it', 'engie!'], // www.engie.fr
  ['Iberdrola', 'energy', 'es', 'iberdrola.es iberdrola.com'], // www.iberdrola.es
  ['Endesa', 'energy', 'es', 'endesa.com endesaclientes.com', 'endesa'], // www.endesa.com
  ['Naturgy', 'energy', 'es', 'naturgy.es naturgy.com'], // www.naturgy.es
  ['Enel', 'energy', 'it', 'enel.it enel.com', 'enel enelenergia'], // www.enel.it
  ['EDP', 'energy', 'pt', 'edp.pt edp.com', 'edp'], // www.edp.pt
  ['Eneco', 'energy', 'nl', 'eneco.nl eneco.com', 'eneco'], // www.eneco.nl
  ['PGE', 'energy', 'pl', 'pge.pl gkpge.pl', 'pge'], // www.gkpge.pl
  ['Tauron', 'energy', 'pl', 'tauron.pl', 'tauron'], // www.tauron.pl
  // State
  ['GOV.UK', 'state', 'en', 'gov.uk service.gov.uk', 'govuk hmrc dvla'], // www.gov.uk
  ['HMRC', 'state', 'en', 'hmrc.gov.uk gov.uk', 'hmrc'], // www.gov.uk/government/organisations/hm-revenue-customs
  ['NHS', 'state', 'en', 'nhs.uk nhs.net', 'nhs'], // www.nhs.uk
  ['TV Licensing', 'state', 'en', 'tvlicensing.co.uk', 'tvlicensing tvlicence'], // www.tvlicensing.co.uk
  ['IRS', 'state', 'en', 'irs.gov', 'irs'], // www.irs.gov
  ['E-ZPass', 'state', 'en', 'e-zpassny.com ezpassnj.com e-zpassiag.com', 'ezpass'], // www.e-zpassiag.com
  ['ELSTER', 'state', 'de', 'elster.de', 'elster!'], // www.elster.de
  ['Rundfunkbeitrag', 'state', 'de', 'rundfunkbeitrag.de'], // www.rundfunkbeitrag.de
  ['FinanzOnline', 'state', 'de', 'bmf.gv.at finanzonline.at', 'finanzonline'], // finanzonline.bmf.gv.at
  ['Impôts', 'state', 'fr', 'impots.gouv.fr gouv.fr', 'impots impotsgouv'], // www.impots.gouv.fr
  ['ANTAI', 'state', 'fr', 'antai.gouv.fr amendes.gouv.fr', 'antai'], // www.antai.gouv.fr
  ['Ameli', 'state', 'fr', 'ameli.fr', 'ameli'], // www.ameli.fr
  ['CAF', 'state', 'fr', 'caf.fr', 'caf!'], // www.caf.fr
  ['Agencia Tributaria', 'state', 'es', 'agenciatributaria.es agenciatributaria.gob.es gob.es',
    'agenciatributaria aeat'], // sede.agenciatributaria.gob.es
  ['DGT', 'state', 'es', 'dgt.es dgt.gob.es', 'dgt'], // www.dgt.es
  ['INPS', 'state', 'it', 'inps.it', 'inps'], // www.inps.it
  ['Agenzia delle Entrate', 'state', 'it', 'agenziaentrate.gov.it agenziaentrateriscossione.gov.it',
    'agenziaentrate agenziadelleentrate'], // www.agenziaentrate.gov.it
  ['pagoPA', 'state', 'it', 'pagopa.gov.it pagopa.it', 'pagopa'], // www.pagopa.gov.it
  ['Portal das Finanças', 'state', 'pt', 'portaldasfinancas.gov.pt', 'portaldasfinancas'], // www.portaldasfinancas.gov.pt
  ['Segurança Social', 'state', 'pt', 'seg-social.pt', 'segurancasocial segsocial'], // www.seg-social.pt
  ['DigiD', 'state', 'nl', 'digid.nl', 'digid'], // www.digid.nl
  ['Belastingdienst', 'state', 'nl', 'belastingdienst.nl'], // www.belastingdienst.nl
  ['CJIB', 'state', 'nl', 'cjib.nl', 'cjib'], // www.cjib.nl
  ['ZUS', 'state', 'pl', 'zus.pl', 'zus'], // www.zus.pl
  ['podatki.gov.pl', 'state', 'pl', 'podatki.gov.pl', 'podatki epuap'], // www.podatki.gov.pl
  // Travel
  ['Booking.com', 'travel', '*', 'booking.com bstatic.com', 'bookingcom'], // www.booking.com
  ['Airbnb', 'travel', '*', 'airbnb.com airbnb.de airbnb.co.uk airbnb.fr airbnb.it airbnb.es muscache.com', 'airbnb'], // www.airbnb.com
  ['Expedia', 'travel', '*', 'expedia.com expediagroup.com expedia-aarp.com expedia.de expedia.co.uk hotels.com',
    'expedia'], // www.expedia.com
  ['Ryanair', 'travel', '*', 'ryanair.com'], // www.ryanair.com
  ['easyJet', 'travel', '*', 'easyjet.com', 'easyjet'], // www.easyjet.com
  ['Lufthansa', 'travel', 'de', 'lufthansa.com miles-and-more.com'], // www.lufthansa.com
  ['Uber', 'travel', '*', 'uber.com', 'uber'], // www.uber.com
  ['Deutsche Bahn', 'travel', 'de', 'bahn.de deutschebahn.com bahn.com', 'deutschebahn'], // www.bahn.de
  ['SNCF', 'travel', 'fr', 'sncf.com sncf-connect.com oui.sncf', 'sncf sncfconnect'], // www.sncf-connect.com
  ['Trenitalia', 'travel', 'it', 'trenitalia.com'], // www.trenitalia.com
  ['Renfe', 'travel', 'es', 'renfe.com', 'renfe'], // www.renfe.com
  // Insurance
  ['Allianz', 'insurance', '*',
    'allianz.de allianz.com allianz-assistance.com allianz-travel.com allianzgi.com allianz.fr allianz.it'], // www.allianz.com
  ['AXA', 'insurance', '*', 'axa.com axa.de axa.fr axa.co.uk', 'axa!'], // www.axa.com
  ['AOK', 'insurance', 'de', 'aok.de', 'aok'], // www.aok.de
  ['Techniker Krankenkasse', 'insurance', 'de', 'tk.de', 'technikerkrankenkasse'], // www.tk.de
];
