import type { WordList } from './concepts.ts';

export const PORTUGUESE: WordList = {
  click: `clique; clicar; carregue aqui; no link; pelo link; atraves do link; cancele aqui; aqui:; siga o link; aceda; acesse;
    visite; entre em; link abaixo; link seguinte; aceder; acessar; toque`,
  call: `ligue; ligar; contacte; entre em contato; telefone; para o numero; ligue imediatamente; contate; telefonar; central;
    fale com o suporte; ligue ja; linha de apoio; contacte o; central de atendimento; 0800`,
  reply: `manda mensagem; escreve; escreva; responde; responda; fale com; contacta; contacte; envia mensagem; manda; chama;
    avisa; me chama; contate; interessad*; adiciona; mande mensagem; mandem; converse com; fale com; envie whatsapp`,
  pay: `pague; pagar; paga; liquide; liquidar; regularize; regularizar; por pagar; falta de pagamento; faltam; em falta;
    pague apenas; nao foram pagas; pagamento; deposite; depositar; despesas; efetue o pagamento; quitar; em atraso; em divida;
    transfere; pendente*; nao pagar; quite; em aberto`,
  transfer: `transferencia; transfere; transferir; envia o dinheiro; envia por; enviar dinheiro; faca a transferencia;
    fazer me uma; um pagamento de; novo fornecedor; pix; mbway; mb way; deposito; manda o dinheiro; faz um pix; por transferencia;
    depositar`,
  gift_card: `cartao/cartoes presente/oferta; cartao/cartoes steam/google/apple/amazon/itunes; cartoes pre pagos; google play;
    gift card; vale presente; vales; cartoes google; paysafecard; cartao pre pago`,
  card_codes: `fotos dos codigos; raspe; raspar; envie os codigos; envie as fotos; foto dos codigos; codigo no verso; raspa;
    fotos dos codigos; codigos e; envie _ codigos; mande os codigos; codigos por`,
  crypto: `bitcoin*; btc; usdt; cripto*; criptomoeda*; ethereum; carteira`,
  money_service: `western union; moneygram; ria; paysafecard`,
  cash_pickup: `buscar o dinheiro; recolher o dinheiro; levantar o dinheiro; um amigo/motoboy/colega/estafeta vai/passa;
    dinheiro vivo; em dinheiro; motoboy; ouro; entregue o cartao; recolher; buscar o cartao`,
  secret_data: `palavra passe; senha; pin; dados do cartao; numero do cartao; dados bancarios; os seus dados; seus dados; iban;
    cvv; dados pessoais; codigo de seguranca; insira o cartao; credenciais; o cartao; codigo de acesso; token; cpf;
    dados de acesso; chave pix; matriz; nib`,
  confirm: `confirme; confirmar; verifique; verificar; atualize; atualizar; valide; validar; desbloqueie; desbloquear; reative;
    introduza; insira; preencha; cancele; a sua identidade; aceda; recadastr*; regularize; identifique; reativar; complete;
    digite; informe; atualizacao; escolha; selecione; nova data; renove; solicite; evite; regularize; bloqueie; anule`,
  chat_app: `whatsapp; telegram; signal; viber; wechat; zap`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; acesso remoto; controlo remoto; controle remoto; supremo;
    partilha de ecra; compartilhar tela`,
  tell_number: `diga o numero; diga me; me diga; o id e; forneca; informe o; passe o numero; indique; dite; numero ao nosso`,
  lend: `emprestas; emprestar; emprestas me; me empresta; preciso de dinheiro; preciso de _ euros/reais/dolares;
    fazer me uma transferencia; ajuda com; me ajuda; ajudas me; pagar por mim; podes pagar; podes fazer; nao consigo entrar;
    um pix; faz um pix; te pago; pagar me; me faz um; pago te; podes transferir; consegue pagar; voce consegue; um pagamento;
    consegues enviar; pagar uma conta; envia me; mandar me; preciso de 1*/2*/3*/5*; pago te; adiantar; me manda; transfere me;
    consegues pagar; fazer me um favor; o meu cartao nao funciona; pagar me uma; pagar por mim; podes pagar me`,
  urgent: `urgente*; imediat*; ja; agora; hoje; o quanto antes; ultimo aviso; aviso final; assim que puderes; rapid*; sem demora;
    agora mesmo; atencao; importante; com urgencia; ultima chance; ultima oportunidade; ainda hoje; alerta`,
  deadline: `em 24/48 horas; 24 horas; 48 horas; dentro de; expira hoje; ate hoje; dois dias; vence hoje; prazo; tens dois; dias;
    ate amanha; ate as; ultimo dia; expira; 24h; 48h`,
  threat: `ou sera; ou envio; caso contrario; para evitar; evite; sera suspens*; sera bloquead*; penhora*; preso;
    volta ao remetente; agravamento; senao; sera desativad*; perder; sera cancelad*; sob pena; multa; se nao pagar; ou o; corte;
    sera devolvid*; sera encerrad*; evitar`,
  secrecy: `entre nos; nao comente; com ninguem; nao digas nada; confidencial*; reservad*; segredo; sigilo; a ninguem; nao conte;
    nao fale; surpresa; discreto; nao contes; em segredo`,
  account: `conta; cartao; banco; homebanking; acesso; app do banco; subscricao; assinatura; perfil; netbanking;
    internet banking; apple id; chave movel`,
  blocked: `bloquead*; suspens*; limitad*; desativad*; expira*; expirou; cancelad*; restrit*; congelad*; inativ*;
    sera desativado; temporariamente; encerrad*; recusad*; falhou; caduc*; bloqueio; invalid*`,
  unusual: `atividade suspeita; atividade incomum; novo dispositivo; se nao foi voce; se nao foi; acesso suspeito;
    acesso nao autorizado; foi associado; nova diretiva; compra nao; nao reconhece; tentativa de acesso; compra suspeita;
    compra aprovada; transacao; por motivos de seguranca; nao autorizad*; movimento suspeito; compra de; debito de; suspeit*;
    login; operacao; detetamos; detectamos; acesso nao; dispositivo desconhecido; tentativa; foi efetuad*; inicio de sessao;
    confirme que; transferencia de; mb way foi; foi pedido; foi solicitad*; alteracao do numero; nova transferencia; se nao pediu;
    uma transferencia`,
  parcel: `encomenda*; pacote; objeto; entrega; envio; alfandega; mercadoria; armazem; frete; remetente; pedido; correio;
    expedicao; distribuicao; estafeta; carteiro`,
  held_parcel: `nao foi entregue; retid*; taxa*; taxa alfandegaria; despesas alfandegarias; portes; morada esta incompleta;
    morada incompleta; endereco incompleto; endereco incorreto; aguarda; aguardando; volta ao remetente; faltam; em falta;
    libertacao; reagend*; liberacao; tributad*; tributo; falha na entrega; tentativa de entrega; parad*; porta;
    nao foi possivel entregar; direitos; devolvid*; codigo postal; morada errada; custos de envio; pendente; custos aduaneiros;
    alfandegari*; fiscalizacao; barrado; entrega falhou; nova entrega; falhou; nao conseguimos entregar; adiada; reagendar;
    tentativa; porte em falta; taxado`,
  fee: `taxa; taxas; despesas; despesas de processo; portes; frete; custos; comissao; tarifa`,
  relation: `mae; pai; avo; mamae; papai; sou eu; o teu filho; a tua filha; seu filho; sua filha; tia; tio; ola mae; oi mae;
    oi pai; neto; neta; mana; mano; vo`,
  new_number: `novo numero; numero novo; guarda este numero; outro numero; numero provisorio; apaga o antigo; salva; meu novo;
    salva esse; numero temporario; numero novo; e o meu numero; na assistencia; telemovel de; numero de um amigo; deste numero;
    telemovel novo`,
  phone_broken: `telemovel avariou; telemovel estragou; celular caiu; celular quebrou; telemovel caiu; perdi o telemovel;
    caiu na agua; partiu se; na agua; roubaram; partiu o ecra; avariado; estragad*; perdi o celular; avariou; telemovel partiu;
    celular estragou; partido; no conserto; assistencia`,
  new_phone: `novo telemovel; telemovel novo; novo celular; celular novo; novo telefone`,
  trouble: `acidente; fianca; policia; advogado; preso; emergencia; sequestr*; esquadra; delegacia; cadeia; aflito`,
  boss: `diretor; diretora; diretor geral; chefe; gerente; presidente; ceo; administrador; patrao; administracao; socio`,
  unavailable: `numa reuniao; em reuniao; nao posso falar; nao posso atender; esta disponivel; estas disponivel; um favor;
    uma tarefa; esta livre; estas livre; favor urgente`,
  virus: `virus; infetad*; infectad*; trojan; malware; hacker; hackead*; spyware; invadid*; comprometid*; ameaca*;
    cavalo de troia; em risco; ameacas; ficheiros suspeitos; violacao; ataque; alerta de seguranca`,
  technician: `tecnico; tecnicos; suporte; departamento tecnico; microsoft; windows; assistencia; licenca expirou;
    apoio ao cliente; departamento de fraude; central de seguranca; atendimento; seguranca; antifraude`,
  renewed: `renovad*; renova; debitad*; debito; sera debitad*; cobrad*; subscricao; assinatura; compra de; cobranca;
    foi aprovada; renovacao; compra; serao debitados; sera cobrado; fatura; a sua compra; debitados; cobrados`,
  not_authorised: `nao autorizou; se nao autoriz*; para cancelar; cancelar; anular; nao reconhece; se nao foi; contestar;
    caso nao; nao foi voce; nao solicitou`,
  refund: `reembolso; reembolsar; devolucao; tem direito; cobrada duas vezes; a receber; apoio de; indemnizacao; restituicao;
    subsidio; auxilio; bonus; credito; valores a receber; beneficio; abono; compensacao; apoio; fgts; acerto de contas; a receber;
    valor disponivel; a seu favor; bonus; apoio extraordinario; pagamento pendente; saldo a receber; saque; pagou a mais;
    cobrado a mais`,
  overpaid: `a mais; por engano; por erro; por lapso; a mais por`,
  give_back: `devolva; diferenca; devolver; restitua; reembolsar; restituir; devolve`,
  fine: `multa*; coima; divida; infracao; portagens; portagem; penhora; agravamento; por pagar; mandado; ipva; detran; iuc;
    pedagio; cpf irregular; contraordenacao; em divida; penhorad*`,
  law: `penhora*; detencao; preso; policia; tribunal; advogado; processo; execucao; mandado; pj; gnr; justica; interpol; europol;
    judicial; ministerio publico; sera penhorada; apreensao; agravamento; cadeia; prisao; contencioso`,
  job: `trabalho; emprego; vaga; oferta; recursos humanos; tarefas; curriculo; formacao; teletrabalho; conta de trabalho;
    salario; contratacao; gerente; part time; recrut*; meio periodo; agencia; home office; candidatura; colaborador*`,
  easy_money: `ganhe; ganhar; por dia; em casa; sem experiencia; diari*; comissao; tarefas simples; dinheiro facil; por hora;
    horas por dia; receba; renda extra; rendimento; rendimento extra; de casa; por semana; ganhos; avalie produtos; avalie hoteis;
    avaliar; basta um telemovel; so precisa; tarefas faceis; por tarefa; pelo celular; curtir`,
  income: `renda extra; rendimento extra; ganhar dinheiro; ganhe dinheiro; ganhe 1*/2*/3*/5*; ganhe ate; dinheiro facil;
    renda passiva; pagamento diario; rendimento diario; ganhe em casa; dinheiro extra`,
  advance_fee: `antes de comecar; pela formacao; para ativar; primeiro de depositar; depositar; para levantar; levantar a;
    taxa de inscricao; desbloquear; ativar a conta; deposito inicial; sacar; liberar; primeiro salario; curso; material;
    adiantado; uniforme; taxa de; antecipad*; exame`,
  affection: `meu amor; amor; querida; querido; amo te; te amo; meu coracao; minha vida; minha rainha; abracar; saudades;
    ter contigo; numero errado; alma gemea; ver te; minha princesa; apaixonad*; conhecer te; minha querida; bebe; vida`,
  stuck: `retid*; alfandega; plataforma de petroleo; militar; cirurgiao; soldado; exercito; siria; cartao esta bloqueado;
    para o voo; voo; para ir ter; heranca; missao; contrato; mala; bilhete; visto; conta bloqueada; medico; engenheiro;
    estrangeiro; bloquead*; passagem; bagagem; pres*; roubad*; carteira; hotel; apreendid*; mala; passaporte; aeroporto;
    emergencia; sem dinheiro; assaltad*`,
  investment: `investir; investiment*; trading; cripto*; bitcoin; forex; corretora; invista; grupo de trading; trader`,
  sure_profit: `garantid*; sem risco; duplica*; dobr*; multiplic*; liberdade financeira; triplic*; lucro garantido;
    lucros garantidos; rendimento garantido`,
  dwelling: `apartamento; casa; quarto; estudio; arrendamento; arrendar; aluguel; alugar; imovel; alojamento; senhorio; renda;
    moradia; temporada; t1; t2`,
  cannot_show: `no estrangeiro; nao posso mostrar; envio as chaves; recebe as chaves; pelo airbnb; fora do pais;
    fora de portugal; mudei me para; estou fora; atraves do airbnb; no exterior; chaves por; chaves via; apos o pagamento;
    depois do pagamento; sem visita; visita depois`,
  deposit: `caucao; deposito; adiantad*; antecipad*; sinal; reserva; primeiro mes; meses adiantados; meses de; reservar;
    garantia; entrada`,
  scan: `leia o codigo; leia; escaneie; digitalize; codigo qr; qr; qr code; aponte a camera; ler o codigo; escanear`,
  paid_place: `parquimetro; estacionamento; posto de carregamento; carregamento; carregador; fora de servico; estacionar;
    trotinete; zona azul`,
  invoice: `fatura*; pagament*; fornecedor; recibo; boleto; pague; transferencias; em aberto; valores; nota fiscal`,
  new_account: `dados bancarios mudaram; novo iban; mudei de banco; conta mudou; novos dados bancarios; antigo foi encerrado;
    alteracao de iban; alteracao de conta; iban antigo; mudamos de banco; nib mudou; iban mudou; novo nib`,
  code: `codigo; 6 digitos; seis digitos; codigo de verificacao; otp; sms; token; pin; codigos`,
  pass_on: `reencaminhar; reencaminhas; leia me; diga me; manda o codigo; por engano; envia me; forneca; me passa; me envia;
    me manda; dite; podes enviar; enviar me; dizer me; da me; dize me; encaminhar; me informa; me diz; passar o codigo; encaminha;
    indique nos; partilhe connosco; responda com; codigo recebido; codigo do sms; indique o codigo; forneca o codigo;
    diga o codigo; envie o codigo; codigo que recebeu; dar o codigo; informe o codigo; manda me o codigo; me manda o codigo;
    passa o codigo; codigo que te; codigo que chega; da me o codigo`,
  keep_code: `nao partilhe; nao o partilhes; nao partilhes; nao compartilhe; com ninguem; nunca; nao forneca; nao divulgue;
    se nao pediu; nao informe; nunca pedimos; a ninguem; nao o partilhe; nao solicitou; nao revele`,
  one_time_code: `codigo de 6; codigo de seis; codigo de verificacao; codigo sms; codigo que; otp; codigo por sms; token;
    codigo de seguranca; codigo do whatsapp`,
  know_password: `conheco a tua palavra; conheco a sua senha; a tua palavra passe; tua senha; sua senha; acesso total;
    acesso aos teus; invadi; infetado; instalei; sou um hacker; teus dispositivos; seu dispositivo; sei a tua; sei sua;
    acesso completo; hackeei`,
  recorded: `webcam; camera; gravei; gravei te; gravad*; video intimo; sites para adultos; porno*; video teu; intim*; masturb*;
    nud*; fotos intimas; gravacao; imagens intimas; video`,
  publish: `contactos; contatos; a todos os teus; familia; amigos; publicar; publico; divulg*; vai ver; envio o video; colegas;
    redes sociais; enviarei; partilh*; espalh*; publicarei; mostrar`,
  won: `ganhou; ganhaste; vencedor; vencedora; parabens; selecionad*; lotaria; loteria; sorteio; sortead*; premio; espera por si;
    reservad*; inquerito; contemplad*; escolhid*; premiad*; foi selecionado; sorte; pesquisa; recompensa; visitante; 1 000 000;
    sortudo; receba o seu; exclusiv*; samsung; iphone; brinde; gratis`,
  claim: `resgate; resgatar; levantar o premio; reclame; confirme a entrega; receber; contacte; despesas de; envio; obter;
    entrega; retire; receba; confirme; participe; garanta; solicite; reclamar; levante`,
  costs: `por sms; por mensagem; custo; eur sms`,
  advertised: `gratis; ganhe; premio; chat; toques`,
  opt_out: `envie sair; cancelar envie; envie stop`,
};
